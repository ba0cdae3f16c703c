import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PEERS_FOLDER } from './contenders.ts'

// Without a network, npm would otherwise wait over a minute before it fails.
const QUICK_TO_GIVE_UP = [
  '--prefer-offline',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]

const folder = fileURLToPath(PEERS_FOLDER)
const stamp = new URL('node_modules/.belay-installed', PEERS_FOLDER)
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', PEERS_FOLDER))

/** Installs and builds the peers, unless exactly these versions are installed. Returns why it cannot, or undefined. */
export function installPeers(): string | undefined {
  const lock = readFileSync(new URL('package-lock.json', PEERS_FOLDER))
  const wanted = createHash('sha256').update(lock).digest('hex')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    console.error('installing the peers (once, about 35 MB in bench/peers/node_modules)…')
    // Ignores the Node versions that they demand: the report shows whether they run on this one.
    const failure = run('npm', [
      'ci',
      '--ignore-scripts',
      '--engine-strict=false',
      '--loglevel=error',
      ...QUICK_TO_GIVE_UP,
    ])
    if (failure !== undefined) return `not installed: ${failure}`
    writeFileSync(stamp, wanted)
  }
  const failure = run(process.execPath, [tsc, '-b', '.'])
  return failure === undefined ? undefined : `not built: ${failure}`
}

/** Returns the first line of the error. */
function run(command: string, args: readonly string[]): string | undefined {
  const options: SpawnSyncOptions = { cwd: folder, shell: process.platform === 'win32' && command === 'npm' }
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8' })
  if (status === 0) return undefined
  const firstLine = `${stderr}\n${stdout}`.split('\n').find((line) => line.trim() !== '')
  return error?.message ?? firstLine?.trim() ?? `${command} ended with ${status}`
}
