import type { Database } from '../../database.ts'
import { type ChunkLoad, loadChunk, unloadChunk } from './chunk-load.ts'
import type { Chunk } from './chunks.ts'
import * as editions from './editions.ts'
import type { Source } from './source.ts'

export { CHUNKS, type Chunk } from './chunks.ts'
export { BadRecordsError, type ChunkDigest } from './city.ts'
export { countRecords, DAMAGED_CHUNK, SOURCES, type Source } from './source.ts'
export {
  type AtlasState,
  createAtlasTables,
  dropAtlasTables,
  readLoadLog,
  readState,
} from './tables.ts'

export type Atlas = ReturnType<typeof openAtlas>

/** The atlas: a table of the world's cities, in editions. It does not know Belay. Every operation may be repeated. */
export function openAtlas(database: Database, onRows: (rows: number) => void = () => {}) {
  return {
    openEdition: (edition: number, source: Source) => editions.openEdition(database, edition, source),
    closeEdition: (edition: number) => editions.closeEdition(database, edition),
    loadChunk: (load: ChunkLoad, signal: AbortSignal) => loadChunk(database, load, { signal, onRows }),
    async unloadChunk(chunk: { edition: number; chunk: Chunk }) {
      const removed = await unloadChunk(database, chunk)
      onRows(-removed)
    },
    index: (edition: number) => editions.indexEdition(database, edition),
    dropIndexes: (edition: number) => editions.dropIndexes(database, edition),
    readDigests: (edition: number) => editions.readDigests(database, edition),
  }
}
