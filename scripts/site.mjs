import './require-node.mjs'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { at } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

const LOCKFILE = at('site/pnpm-lock.yaml')
const STAMP = at('site/node_modules/.belay-installed')

const command = process.argv[2] ?? 'dev'
if (!['dev', 'build', 'preview'].includes(command)) {
  console.error(`npm run site: "${command}" is none of dev, build and preview.`)
  process.exit(2)
}
await setUp()
await installTools()
// The reference of the interface is written from the built declarations. A link in a docstring that leads nowhere fails it.
if (command === 'build' || !existsSync(at('site/api')))
  await inSite('typedoc/bin/typedoc', '--logLevel', 'Warn')
await inSite('vitepress/bin/vitepress.js', command, '.', ...process.argv.slice(3))
if (command === 'build') console.log('The site is in site/dist: any server of static files can deliver it.')

/** Installs what builds the site. It is no part of the workspace: nobody who runs or tests Belay needs it. */
async function installTools() {
  const wanted = createHash('sha256').update(readFileSync(LOCKFILE)).digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  console.log('Installing the tools of the site (once, about 140 MB in site/node_modules)…')
  await must(
    at('node_modules/pnpm/bin/pnpm.cjs'),
    'install',
    '--frozen-lockfile',
    '--prefer-offline',
    '--reporter=silent',
  )
  writeFileSync(STAMP, wanted)
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
function inSite(program, ...args) {
  return must(at('site/node_modules', program), ...args)
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
async function must(program, ...args) {
  const code = await run(process.execPath, [program, ...args], { cwd: at('site') })
  if (code !== 0) process.exit(code)
}
