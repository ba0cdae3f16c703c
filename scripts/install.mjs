import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { explainInstallFailure } from './install-failure.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'

const STAMP = at('node_modules/.belay-installed')

/** Installs the dependencies with the pnpm that package.json names, unless exactly these are installed already. */
export async function installIfNeeded() {
  const wanted = fingerprint()
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  console.log('Installing dependencies (once, and again when they change)…')
  const startedAt = Date.now()
  /** @type {string[]} */
  const lines = []
  const code = await run(
    'npx',
    ['-y', '--prefer-offline', pnpm(), 'install', '--frozen-lockfile', '--reporter=append-only'],
    {
      cwd: root,
      env: installEnvironment(),
      onLine: (line) => {
        lines.push(line)
        showProgress(line)
      },
    },
  )
  endProgress()
  if (code !== 0) {
    console.error(explainInstallFailure(lines, code))
    process.exit(code)
  }
  writeFileSync(STAMP, wanted)
  console.log(`Dependencies installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`)
}

/** Everything the installed tree depends on: change one of these and it must be installed again. */
function fingerprint() {
  const hash = createHash('sha256')
  const [major] = process.versions.node.split('.')
  hash.update(`${major} ${process.platform} ${process.arch}`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...workspaceManifests()]) {
    hash.update(`\n${file}\n`).update(readFileSync(at(file)))
  }
  return hash.digest('hex')
}

function workspaceManifests() {
  const children = ['packages', 'tools'].flatMap((parent) =>
    existsSync(at(parent)) ? readdirSync(at(parent)).map((name) => join(parent, name)) : [],
  )
  return [...children, 'examples', 'bench']
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(at(file)))
    .sort()
}

function pnpm() {
  /** @type {{ packageManager: string }} */
  const { packageManager } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  return packageManager
}

function installEnvironment() {
  const env = {
    ...process.env,
    npm_config_update_notifier: 'false',
    // `npm start -s` would silence the reason of a failure.
    npm_config_loglevel: 'error',
    // Without network npm would wait over a minute before it says so.
    npm_config_fetch_retry_mintimeout: '1000',
    npm_config_fetch_retry_maxtimeout: '5000',
  }
  if (isWritable(homedir())) return env

  // npm and pnpm keep their caches at home. Where that is read-only they are given a home in here.
  const home = at('node_modules/.cache/home')
  mkdirSync(home, { recursive: true })
  console.log(`Your home folder (${homedir()}) can't be written to: caches go to node_modules/.cache/home.`)
  return {
    ...env,
    HOME: home,
    USERPROFILE: home,
    npm_config_cache: join(home, 'npm'),
    npm_config_userconfig: process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  }
}

/** @param {string} folder */
function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * pnpm reports its progress a line at a time: on a terminal one line that changes, in a log only what came of it.
 * @param {string} line
 */
function showProgress(line) {
  if (!line.startsWith('Progress:')) return
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[2K  ${line.slice('Progress: '.length)}`)
  else if (line.endsWith('done')) console.log(`  ${line.slice('Progress: '.length)}`)
}

function endProgress() {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[2K')
}
