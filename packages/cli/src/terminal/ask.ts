import { createInterface } from 'node:readline/promises'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'

type Asking = Pick<Call, 'process' | 'signal' | 'flags'>

/** Whether somebody can be asked. */
export function canAsk({ process }: Pick<Call, 'process'>): boolean {
  return process.stdin.isTTY === true
}

/** Asks on stderr, and resolves to the line that was typed, or to an empty text at the end of the input. Ctrl-C refuses. */
export async function ask(
  { process, signal }: Pick<Call, 'process' | 'signal'>,
  question: string,
): Promise<string> {
  process.stderr.write(question)
  const lines = createInterface({ input: process.stdin })
  try {
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
    const line = await Promise.race([lines.question('', { signal }), ended])
    // Nobody typed a line break.
    if (line === undefined) process.stderr.write('\n')
    return line?.trim() ?? ''
  } catch (error) {
    if (!signal.aborted) throw error
    process.stderr.write('\n')
    throw refused('Nothing was done.')
  } finally {
    lines.close()
  }
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
