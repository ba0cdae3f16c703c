import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { RawCity } from './source.ts'

const citySchema = z.object({
  id: z.int().positive(),
  name: z.string().min(1).max(200),
  country: z.string().regex(/^[A-Z]{2}$/, 'is not a country code'),
  population: z.int().nonnegative(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
})

export type City = z.infer<typeof citySchema>

/** Records that are not cities. A retry would find the same. */
export class BadRecordsError extends Error {
  override readonly name = 'BadRecordsError'
}

/** Checks records. `seen` holds the ids of earlier records and receives the new ones. Throws {@link BadRecordsError} that names every bad record. */
export function checkCities(records: readonly RawCity[], seen: Set<number>): readonly City[] {
  const faults = records.flatMap((record) => {
    const parsed = citySchema.safeParse(record)
    const repeated = seen.has(record.id)
    seen.add(record.id)
    if (repeated) return [`city ${record.id} appears twice`]
    if (parsed.success) return []
    return parsed.error.issues.map(({ path, message }) => `city ${record.id}: ${path.join('.')}: ${message}`)
  })
  if (faults.length > 0) throw new BadRecordsError(`${faults.length} bad records: ${faults.join('; ')}`)
  return records
}

/** A chunk's count and digest: equal digests mean equal rows. */
export interface ChunkDigest {
  readonly chunk: string
  readonly rows: number
  readonly digest: string
}

/** A digest of cities in the order of their ids. {@link digestSql} computes the same digest from rows. */
export function digestOf(cities: readonly City[]): string {
  const lines = cities.map(
    ({ id, name, population, latitude, longitude }) =>
      `${id} ${name} ${population} ${Math.round(latitude * 1e5)} ${Math.round(longitude * 1e5)}`,
  )
  return createHash('md5').update(lines.join('\n')).digest('hex')
}

// Coordinates as whole numbers, because JavaScript and PostgreSQL don't format every float alike.
export const digestSql = `md5(string_agg(concat_ws(' ', city_id, name, population,
  round(latitude * 1e5)::int, round(longitude * 1e5)::int), E'\\n' order by city_id))`
