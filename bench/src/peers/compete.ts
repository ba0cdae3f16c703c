import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Report, Workload } from './contender.ts'

const program = fileURLToPath(new URL('./contender.js', import.meta.url))

/** Runs one workload in its own process, so that none warms up, leaks into or crashes another. Never throws. */
export function compete(workload: Workload, { timeoutMs }: { timeoutMs: number }): Promise<Report> {
  const child = fork(program, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-4_000)
  })
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve({ reason: `not finished in ${timeoutMs / 1_000} s` })
      child.kill('SIGKILL')
    }, timeoutMs)
    child.once('message', (report: Report) => resolve(report))
    child.once('error', (error) => resolve({ reason: error.message }))
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ reason: errorIn(stderr) ?? `ended with ${signal ?? code}` })
    })
    child.send(workload)
  })
}

function errorIn(stderr: string): string | undefined {
  return stderr.split('\n').find((line) => /^\w*Error\b/.test(line))
}
