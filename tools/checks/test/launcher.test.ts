import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { hearSignalsOnce } from '../../../scripts/launcher.mjs'

describe('Ctrl-C', () => {
  it('is heard once if both the terminal and npm deliver it, and a second one is heard too', () => {
    const program = new EventEmitter()
    const heard: string[] = []
    for (const signal of ['SIGINT', 'SIGTERM']) program.on(signal, () => heard.push(signal))
    let now = 5_000
    hearSignalsOnce(program, () => now)

    program.emit('SIGINT')
    now += 20
    program.emit('SIGINT')
    program.emit('SIGTERM')
    expect(heard).toEqual(['SIGINT', 'SIGTERM'])

    now += 400
    program.emit('SIGINT')
    expect(heard).toEqual(['SIGINT', 'SIGTERM', 'SIGINT'])
  })
})

// Windows has neither these signals nor parents that change.
describe.skipIf(process.platform === 'win32')('a program under npm', () => {
  it.each([
    ['npm is killed', 'npm'],
    ['the shell between them is ended', 'shell'],
  ] as const)('ends when %s', async (_what, victim) => {
    const launched = await launch()

    process.kill(launched[victim], 'SIGKILL')

    // Its output ends with the last process that could write to it.
    await expect(launched.ended).resolves.toBe('ended')
  })
})

const LAUNCHER = fileURLToPath(new URL('../../../scripts/launcher.mjs', import.meta.url))
const PROGRAM = `
  import { endWithLauncher } from ${JSON.stringify(LAUNCHER)}
  endWithLauncher()
  setInterval(() => {}, 1000)
  // If the test fails, nothing is left running.
  setTimeout(() => process.exit(), 10_000).unref()
  console.log(JSON.stringify({ shell: process.ppid }))
`
// The shell has another command to run, so it stays in between, like dash under npm.
const NPM = `
  const { spawn } = require('node:child_process')
  spawn('sh', ['-c', '"$0" --input-type=module -e "$PROGRAM"; true', process.execPath], { stdio: 'inherit' })
`

async function launch() {
  const npm = spawn(process.execPath, ['-e', NPM], {
    env: { ...process.env, PROGRAM, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<string>((resolve) => npm.stdout.once('end', () => resolve('ended')))
  const line = await new Promise<string>((resolve) =>
    npm.stdout.once('data', (chunk) => resolve(String(chunk))),
  )
  const { shell }: { shell: number } = JSON.parse(line)
  return { npm: npm.pid!, shell, ended }
}
