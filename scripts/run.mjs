import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

/**
 * Runs a program to its end and resolves its exit code, 128 + n when signal n ended it. While it runs it outlives no signal of ours:
 * the terminal sends Ctrl-C to the child itself, so only what was meant for this process alone is passed on.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { onLine?: (line: string) => void }} options
 *   `onLine` receives both output streams line by line; without it the child writes to our own.
 * @returns {Promise<number>}
 */
export function run(command, args, { onLine, ...options } = {}) {
  // npm and npx are scripts on Windows, which only a shell can start.
  const shell = process.platform === 'win32' && !command.endsWith('.exe')
  const stdio = onLine === undefined ? 'inherit' : ['inherit', 'pipe', 'pipe']
  const child = spawn(command, args, { shell, stdio: /** @type {any} */ (stdio), ...options })
  if (onLine !== undefined) for (const stream of [child.stdout, child.stderr]) readLines(stream, onLine)

  const listeners = FORWARDED.map((signal) => {
    const listener = () => {
      const fromTerminal = signal === 'SIGINT' && process.stdin.isTTY
      if (!fromTerminal) child.kill(signal)
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })

  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      for (const stop of listeners) stop()
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
    })
  })
}

/**
 * @param {import('node:stream').Readable | null} stream
 * @param {(line: string) => void} onLine
 */
function readLines(stream, onLine) {
  let rest = ''
  stream?.setEncoding('utf8')
  stream?.on('data', (chunk) => {
    const lines = (rest + chunk).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
  stream?.on('end', () => {
    if (rest !== '') onLine(rest)
  })
}
