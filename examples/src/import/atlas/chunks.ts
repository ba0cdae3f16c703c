/**
 * The world in sixteen ranges of country codes, of about 9,000 cities each. They are constants because they name the steps of a workflow: a version's
 * graph must not change because a new edition of the data moved a boundary.
 */
export const CHUNKS = [
  'AD-BH',
  'BI-CR',
  'CU-DO',
  'DZ-FO',
  'FR-GA',
  'GB-HU',
  'ID-IS',
  'IT-IT',
  'JE-MW',
  'MX-NF',
  'NG-PG',
  'PH-RE',
  'RO-RW',
  'SA-UG',
  'US-US',
  'UY-ZW',
] as const

export type Chunk = (typeof CHUNKS)[number]

/** A country's chunk: the last one that doesn't begin after it. */
export function chunkOf(country: string): Chunk {
  return CHUNKS.findLast((chunk) => chunk.slice(0, 2) <= country) ?? CHUNKS[0]
}
