import { createInterface } from 'node:readline'
import type { Call, CallProcess } from '../call.ts'

/** Whether there is somebody to ask. */
export function canAsk({ stdin, stderr }: Pick<CallProcess, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/** What is typed after the question; undefined after Ctrl-C or Ctrl-D. */
export async function ask(
  { process, out, signal }: Pick<Call, 'process' | 'out' | 'signal'>,
  question: string,
): Promise<string | undefined> {
  out.rawNote(question)
  // Its own terminal mode would swallow Ctrl-C.
  const lines = createInterface({ input: process.stdin, terminal: false, signal })
  try {
    for await (const line of lines) return line.trim()
    out.note()
    return undefined
  } finally {
    lines.close()
  }
}
