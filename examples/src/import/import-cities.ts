import { define, PermanentError, type Workflow } from '@belay/workflow'
import * as z from 'zod'
import { type Atlas, BadRecordsError, CHUNKS, type Chunk, type ChunkDigest, SOURCES } from './atlas/index.ts'

// Rows never travel through a workflow's inputs and outputs. Those contain only an edition, its source, counts and digests.
const importSchema = z.object({ edition: z.int().positive(), source: z.enum(SOURCES) })
type ImportInput = z.infer<typeof importSchema>

/** Steps defined in a loop are known only by their pattern, so any of them may have loaded something. */
type Loads = Readonly<Record<string, ChunkDigest | undefined>>

/**
 * Loads an edition of the atlas, one step per chunk, many at once, and takes every row of it back if one of them fails:
 *
 *                   ┌─▶ load:AD-BH ─┐
 *     openEdition ──┼─▶ …           ┼─▶ index ─▶ verify
 *                   └─▶ load:UY-ZW ─┘
 */
export function importCities(atlas: Atlas): Workflow<'import-cities', ImportInput, Loads> {
  let workflow: Workflow<'import-cities', ImportInput, Loads> = define('import-cities', {
    version: 1,
    input: importSchema,
  })
  workflow = workflow.step('openEdition', {
    run: ({ input }) => atlas.openEdition(input.edition, input.source),
    compensate: ({ input }) => atlas.closeEdition(input.edition),
  })
  for (const chunk of CHUNKS) {
    workflow = workflow.step(loadOf(chunk), {
      dependsOn: ['openEdition'],
      run: ({ input, signal }) =>
        withoutRetryingBadRecords(() => atlas.loadChunk({ ...input, chunk }, signal)),
      // A load that failed half-way has left rows, too.
      compensateOn: 'started',
      compensate: ({ input }) => atlas.unloadChunk({ edition: input.edition, chunk }),
    })
  }
  return workflow
    .step('index', {
      dependsOn: CHUNKS.map(loadOf),
      run: ({ input }) => atlas.index(input.edition),
      compensate: ({ input }) => atlas.dropIndexes(input.edition),
    })
    .step('verify', {
      dependsOn: ['index', ...CHUNKS.map(loadOf)],
      run: async ({ input, deps }) => {
        const loaded = CHUNKS.map((chunk) => deps[loadOf(chunk)])
        const differing = differences(loaded, await atlas.readDigests(input.edition))
        if (differing.length === 0) return
        throw new PermanentError(`These chunks are not stored as they were loaded: ${differing.join(', ')}.`)
      },
    })
}

function loadOf(chunk: Chunk) {
  return `load:${chunk}` as const
}

/** Bad records stay bad, so a load that finds some must not be retried. */
async function withoutRetryingBadRecords<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof BadRecordsError) throw new PermanentError(error.message, { cause: error })
    throw error
  }
}

function differences(
  loaded: readonly (ChunkDigest | undefined)[],
  stored: readonly ChunkDigest[],
): readonly string[] {
  return CHUNKS.filter((chunk, index) => {
    const found = stored.find((digest) => digest.chunk === chunk)
    return found?.rows !== loaded[index]?.rows || found?.digest !== loaded[index]?.digest
  })
}
