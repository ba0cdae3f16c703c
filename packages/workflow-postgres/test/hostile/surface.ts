import * as testing from '@belay/testing'
import * as workflow from '@belay/workflow'
import * as postgres from '../../src/index.ts'
import * as pglite from '../../src/pglite.ts'
import * as schema from '../../src/schema/index.ts'

/** The entry points of the packages, except those that register tests or run their own worlds. */
const ENTRIES = { workflow, postgres, pglite, schema, testing }

/** Names of the functions that the entry points export. */
export function exportedFunctions(): readonly string[] {
  return Object.values(ENTRIES).flatMap((entry) =>
    Object.entries(entry).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
  )
}

/** Names of the public methods of an object, including those of its class: `runs.list`. */
export function methodsOf(prefix: string, object: object): readonly string[] {
  const names = new Set<string>()
  for (
    let level = object;
    level !== Object.prototype && level !== null;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) {
      const value: unknown = Object.getOwnPropertyDescriptor(level, name)?.value
      if (typeof value === 'function' && name !== 'constructor') names.add(`${prefix}.${name}`)
    }
  }
  return [...names]
}
