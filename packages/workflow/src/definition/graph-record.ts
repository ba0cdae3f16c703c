import { definitionError, type Place } from '../graph/place.ts'
import { readOptions } from '../options/index.ts'
import { shown } from './option-check.ts'

/** Refuses what is not an object with entries, and one that lost an entry. */
export function checkRecord(
  place: Place,
  option: string,
  given: unknown,
  content: string,
): asserts given is Readonly<Record<string, unknown>> {
  if (readOptions(given) === undefined) {
    throw definitionError(place, `${option} is ${shown(given)}, and must be an object with ${content}.`)
  }
  if (!hasProtoKey(given as object)) return
  throw definitionError(
    place,
    `${option} was written with a key __proto__, which JavaScript takes for the object's prototype: the entry is lost. Give it another name.`,
    { kind: 'invalid_name', name: '__proto__', suggestion: 'proto' },
  )
}

/** Tells whether a key `__proto__` set the prototype of an object literal. The prototype of a class instance has its own `constructor`. */
function hasProtoKey(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given)
  return (
    prototype !== null && prototype !== Object.prototype && !Object.hasOwn(prototype as object, 'constructor')
  )
}
