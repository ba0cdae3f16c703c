import { define, PermanentError } from '@belay/workflow'
import * as z from 'zod'
import type { Database } from '../database.ts'
import { loadRange, NoTableError, rangesOf, unload } from './towns/index.ts'

// Rows never travel through a workflow's inputs and outputs. Those contain only places in a file, and counts.
const csvSchema = z.object({
  name: z.string(),
  file: z.string(),
  /** What the user wants if some rows are bad: only the good ones, or nothing. */
  badRows: z.enum(['skip', 'refuse']),
})

/**
 * Loads a CSV file a thousand lines at a time, and lists what cannot be loaded:
 *
 *               ┌─▶ load[0] ─┐
 *     load[] ───┼─▶ …        ┼─▶ load ─▶ accept
 *               └─▶ load[23] ┘
 *
 * A range that fails does not stop the others. Once all have ended, `accept` decides by the wish of the user, and if it refuses, everything is undone.
 */
export function importCsv(database: Database) {
  return define('import-csv', { version: 1, input: csvSchema })
    .map('load', {
      over: ({ input }) => rangesOf(input.file),
      concurrency: 4,
      onFailure: 'collect',
      run: ({ input, item }) =>
        withoutRetrying(() => loadRange(database, { name: input.name, file: input.file, range: item })),
      // One statement removes the rows of all ranges, also those of an attempt that was killed.
      compensateAll: ({ input }) => unload(database, input.name),
      compensateOn: 'started',
    })
    .step('accept', {
      dependsOn: ['load'],
      run: ({ input, deps }) => {
        const counted = deps.load.flatMap((range) => (range.status === 'completed' ? [range.output] : []))
        const failed = deps.load.flatMap((range) => (range.status === 'failed' ? [range.error.message] : []))
        const loaded = counted.reduce((sum, { good }) => sum + good, 0)
        const bad = counted.reduce((sum, range) => sum + range.bad, 0)
        if (input.badRows === 'refuse' && bad + failed.length > 0) {
          throw new PermanentError(
            `${bad} rows are bad, and ${failed.length} of the ranges could not be loaded`,
          )
        }
        return { loaded, bad, failed }
      },
    })
}

/** What is no table stays none, so such a range must not be retried. */
async function withoutRetrying<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof NoTableError) throw new PermanentError(error.message, { cause: error })
    throw error
  }
}
