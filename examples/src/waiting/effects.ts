import { appendFile, readFile } from 'node:fs/promises'

/** The outside world of these examples: it can be told to do something, once for each key however often it is asked. */
export interface Effects {
  act(what: string, idempotencyKey: string): Promise<void>
}

/** Effects that are kept as lines of a file, so that a killed process takes none of them with it. */
export function effectsIn(file: string): Effects {
  return {
    async act(what, idempotencyKey) {
      const done = await readFile(file, 'utf8').catch(() => '')
      if (done.split('\n').some((line) => line.startsWith(`${idempotencyKey}\t`))) return
      await appendFile(file, `${idempotencyKey}\t${what}\n`)
    },
  }
}
