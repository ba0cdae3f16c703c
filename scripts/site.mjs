import './require-node.mjs'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { installApart } from './install-apart.mjs'
import { at } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

const command = process.argv[2] ?? 'dev'
if (!['dev', 'build', 'preview'].includes(command)) {
  console.error(`npm run site: "${command}" is none of dev, build and preview.`)
  process.exit(2)
}
await setUp()
await installApart('site', 'the tools of the site, about 140 MB')
// The reference of the interface is written from the built declarations. A link in a docstring that leads nowhere fails it.
if (command === 'build' || !existsSync(at('site/api')))
  await inSite('typedoc/bin/typedoc', '--logLevel', 'Warn')
await copyPlayground()
await inSite('vitepress/bin/vitepress.js', command, '.', ...process.argv.slice(3))
if (command === 'build') console.log('The site is in site/dist: any server of static files can deliver it.')

/** Below `/playground/` of the site. */
async function copyPlayground() {
  const { buildPlayground } = await import('../playground/scripts/build.mjs')
  await buildPlayground()
  rmSync(at('site/public/playground'), { recursive: true, force: true })
  cpSync(at('playground/dist'), at('site/public/playground'), { recursive: true })
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
async function inSite(program, ...args) {
  const code = await run(process.execPath, [at('site/node_modules', program), ...args], { cwd: at('site') })
  if (code !== 0) process.exit(code)
}
