import { readFileSync } from 'node:fs'

/** Whether a process runs. One that has ended and was not yet reaped does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    // There is no /proc, or it has just ended.
    return process.platform !== 'linux'
  }
}

/** The numbers of the processes that a text names. */
export function pidsIn(text: string): readonly number[] {
  return [...new Set([...text.matchAll(/\bpid (\d+)/g)].map(([, pid]) => Number(pid)))]
}
