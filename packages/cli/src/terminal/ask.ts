import { misused, refused } from '../cli-error.ts'
import type { FlagsGiven } from '../table/flags.ts'
import type { CallProcess } from './call-process.ts'

/** Of a call. */
interface Asking {
  readonly process: CallProcess
  readonly signal: AbortSignal
  readonly flags: FlagsGiven
}

/** Whether somebody can be asked. */
export function canAsk({ process }: Pick<Asking, 'process'>): boolean {
  return process.stdin.isTTY === true
}

/** Asks on stderr, and resolves to the line that was typed, or to an empty text at the end of the input. Ctrl-C refuses. */
export async function ask(
  { process, signal }: Pick<Asking, 'process' | 'signal'>,
  question: string,
): Promise<string> {
  process.stderr.write(question)
  return (await lineFrom(process, signal)).trim()
}

/** Takes one line and leaves what follows to the next question. */
function lineFrom(
  { stdin, stderr }: Pick<CallProcess, 'stdin' | 'stderr'>,
  signal: AbortSignal,
): Promise<string> {
  // Nobody typed a line break, or it was Ctrl-C.
  const endLine = () => stderr.write('\n')
  const nothingDone = () => refused('Nothing was done.')
  if (signal.aborted || !stdin.readable) {
    endLine()
    return signal.aborted ? Promise.reject(nothingDone()) : Promise.resolve('')
  }
  stdin.setEncoding('utf8')
  return new Promise((resolve, reject) => {
    let typed = ''
    const stop = () => {
      stdin.off('data', onData).off('end', onEnd).pause()
      signal.removeEventListener('abort', onAbort)
    }
    const onData = (text: string | Buffer) => {
      typed += String(text)
      const at = typed.indexOf('\n')
      if (at < 0) return
      stop()
      if (at + 1 < typed.length) stdin.unshift(typed.slice(at + 1))
      resolve(typed.slice(0, at))
    }
    const onEnd = () => {
      stop()
      endLine()
      resolve(typed)
    }
    const onAbort = () => {
      stop()
      endLine()
      reject(nothingDone())
    }
    signal.addEventListener('abort', onAbort, { once: true })
    stdin.on('data', onData).on('end', onEnd).resume()
  })
}

/**
 * Lets somebody type the number of what is about to change, unless `--yes` is given. Throws a `CliError`: 1 for another number and for another one than
 * `--expect`, 2 if nobody can be asked.
 */
export async function confirmCount(call: Asking, count: number, what: string): Promise<void> {
  const { yes, expect } = call.flags
  if (expect !== undefined && expect !== count)
    throw refused(`--expect is ${expect}, but it would be ${count}. Nothing was done.`)
  if (yes) return
  if (!canAsk(call)) throw misused('Nobody can be asked here. --yes does it without asking.')
  if ((await ask(call, `Type ${count} to ${what}: `)) !== String(count)) throw refused('Nothing was done.')
}
