import { define, PermanentError } from '@belay/workflow'
import * as z from 'zod'
import { type Atlas, BadRecordsError, CHUNKS, type Chunk, SOURCES } from './atlas/index.ts'

// Rows never travel through a workflow's inputs and outputs: they name an edition and its source, and tell counts and digests.
const importSchema = z.object({ edition: z.int().positive(), source: z.enum(SOURCES) })

const loadStep = (chunk: Chunk) => `load:${chunk}` as const

/**
 * Loads an edition of the atlas, one step per chunk, many at once, and takes every row of it back if one of them fails:
 *
 *     openEdition ─┬─▶ load:AD-BH ─┬─▶ index ─▶ verify
 *                  ├─▶ …           ┤
 *                  └─▶ load:UY-ZW ─┘
 */
export function importCities(atlas: Atlas) {
  const opened = define('import-cities', { version: 1, input: importSchema }).step('openEdition', {
    run: ({ input }) => atlas.openEdition(input.edition, input.source),
    compensate: ({ input }) => atlas.closeEdition(input.edition),
  })
  let loading = opened
  for (const chunk of CHUNKS) {
    loading = loading.step(loadStep(chunk), {
      dependsOn: ['openEdition'],
      run: ({ input, signal }) => withoutRetryingBadRecords(() => atlas.loadChunk({ ...input, chunk }, signal)),
      // A load that failed half-way has left rows, too.
      compensateOn: 'started',
      compensate: ({ input }) => atlas.unloadChunk({ edition: input.edition, chunk }),
    })
  }
  return loading
    .step('index', {
      dependsOn: CHUNKS.map(loadStep),
      run: ({ input }) => atlas.index(input.edition),
      compensate: ({ input }) => atlas.dropIndexes(input.edition),
    })
    .step('verify', {
      dependsOn: ['index', ...CHUNKS.map(loadStep)],
      run: async ({ input, deps }) => {
        const stored = await atlas.readDigests(input.edition)
        return { chunks: stored.length }
      },
    })
}

async function withoutRetryingBadRecords<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof BadRecordsError) throw new PermanentError(error.message, { cause: error })
    throw error
  }
}
