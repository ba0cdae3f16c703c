import { BelayError, type Engine } from '@belay/workflow'

const ENGINE = ['on', 'gauges', 'queue']

/** Throws `invalid_option` for anything but an engine, also one of another copy of the package. */
export function checkEngine(call: string, given: unknown): asserts given is Engine {
  check(given, ENGINE, `${call}: the engine must be what createEngine() returned`)
}

/** Throws `invalid_option` unless the value has all these methods. `claim` says what it must be. */
export function check(given: unknown, methods: readonly string[], claim: string): void {
  if (methods.every((name) => typeof member(given, name) === 'function')) return
  throw new BelayError('invalid_option', `${claim}; got ${typeName(given)}.`)
}

function member(given: unknown, name: string): unknown {
  if (given === null || (typeof given !== 'object' && typeof given !== 'function')) return undefined
  return Reflect.get(given, name)
}

/** Never the value itself, which may hold a secret. */
function typeName(given: unknown): string {
  if (given === undefined || given === null) return String(given)
  if (Array.isArray(given)) return 'an array'
  return typeof given === 'object' ? 'another object' : `a ${typeof given}`
}
