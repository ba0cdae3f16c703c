import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { DefinitionRecord } from './records.ts'

/** The lowest number that is made of a definition's content. Lower ones were given in sequence by earlier versions of the stores. */
const FIRST = 2 ** 20
/** The greatest number of a column of type `integer`. */
const LAST = 2 ** 31 - 1

/** How many numbers a store tries. Of ten thousand definitions, one finds its first number taken in one store of forty. */
export const DEFINITION_NUMBERS_MAX = 5

/**
 * The number under which a store keeps a definition. It follows from the name, the version and the checksum, so a number that a process remembers
 * never comes to mean another definition: not after a failover that lost the row, and not in a restored backup. `tries` counts the numbers that the
 * store has found taken by other definitions.
 */
export function definitionNumber(
  { name, version, checksum }: Pick<DefinitionRecord, 'name' | 'version' | 'checksum'>,
  tries = 0,
): number {
  const hashed = sha256(utf8ToBytes(JSON.stringify([name, version, checksum, tries])))
  const number = hashed.subarray(0, 6).reduce((sum, byte) => sum * 256 + byte, 0)
  return FIRST + (number % (LAST - FIRST + 1))
}
