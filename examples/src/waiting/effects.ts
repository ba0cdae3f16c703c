import { appendFile, readFile } from 'node:fs/promises'

/** The outside world of these examples. It does something once for each key, however often it is asked. */
export interface Effects {
  act(what: string, idempotencyKey: string): Promise<void>
}

/** Effects as lines of a file, so that they survive a killed process. */
export function effectsIn(file: string): Effects {
  return {
    async act(what, idempotencyKey) {
      const done = await readFile(file, 'utf8').catch(() => '')
      if (done.split('\n').some((line) => line.startsWith(`${idempotencyKey}\t`))) return
      await appendFile(file, `${idempotencyKey}\t${what}\n`)
    },
  }
}
