import { BelayError } from '../errors.ts'
import { didYouMean } from '../nearest.ts'
import { shown } from '../shown.ts'
import { type Kind, Refusal, readAs } from './kind.ts'

/** One option: what it sets, what it takes, and its default. */
export interface OptionRow<Value = unknown> {
  /** Completes the sentence "It sets …": `how often a worker looks for work`. */
  readonly sets: string
  readonly takes: Kind<Value>
  /** In the form users write. */
  readonly default?: unknown
  /** It must be given. */
  readonly required?: true
  /** For filters: the option narrows the filter, so {@link checkFilter} refuses undefined. */
  readonly narrows?: true
}

/** The options of one function, by name. */
export type OptionTable = Readonly<Record<string, OptionRow>>

/** The checked options of a table. An option without a default that was not given is undefined. */
export type SettingsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { readonly required: true } | { readonly default: unknown } ? never : undefined)
}

type ValueOf<Row> = Row extends { readonly takes: Kind<infer Value> } ? Value : never

/**
 * Checks the names and values of a call's options and fills in defaults. An undefined option counts as not given. Every option is read exactly
 * once: use the returned values, not the given ones.
 *
 * @throws BelayError `invalid_option` that names the call, the option, what it must be, what it sets, and the nearest valid name.
 */
export function checkOptions<const Table extends OptionTable>(
  call: string,
  given: unknown,
  table: Table,
): SettingsOf<Table> {
  return settings(call, ownOptions(call, given, Object.keys(table)), table)
}

/**
 * The same for a filter, but a narrowing option must not be undefined. Most often a variable was not set, and the filter would match everything.
 */
export function checkFilter<const Table extends OptionTable>(
  call: string,
  given: unknown,
  table: Table,
): SettingsOf<Table> {
  const options = ownOptions(call, given, Object.keys(table), 'the filter')
  for (const name of Object.keys(options)) {
    if (options[name] !== undefined || table[name]!.narrows !== true) continue
    throw new BelayError(
      'invalid_option',
      `${call}: ${name} is undefined, and would match everything. Give it a value, or leave the name out.`,
    )
  }
  return settings(call, options, table)
}

/** Checks and reads one argument. Throws `invalid_option`. */
export function checkArgument<Value>(
  call: string,
  argument: string,
  given: unknown,
  kind: Kind<Value>,
): Value {
  const value = readAs(kind, given)
  if (Refusal.is(value)) throw invalidOption(call, argument, kind.words, value)
  return value
}

/** The error for a value that an option refuses. */
function invalidOption(
  call: string,
  option: string,
  accepted: string,
  { got, hint }: Refusal,
  sets?: string,
): BelayError {
  const meaning = sets === undefined ? '' : ` It sets ${sets}.`
  return new BelayError(
    'invalid_option',
    `${call}: ${option} must be ${accepted}; got ${got}.${hint}${meaning}`,
  )
}

/** Copies the given options, reading each once. Undefined if `given` is not an options object. Never throws. */
export function readOptions(given: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    // The tag distinguishes a Map, a Date or a Promise from an options object, also one from another realm.
    if (typeof given !== 'object' || Object.prototype.toString.call(given) !== '[object Object]')
      return undefined
    const options: Record<string, unknown> = Object.create(null)
    for (const name in given) options[name] = Reflect.get(given, name)
    return options
  } catch {
    return undefined
  }
}

/** An error text about the first unknown name, or undefined. */
export function unknownName(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string | undefined {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown === undefined) return undefined
  return `has no option ${shown(unknown)}.${didYouMean(unknown, names)} It takes ${names.join(', ')}.`
}

function ownOptions(
  call: string,
  given: unknown,
  names: readonly string[],
  what = 'the options',
): Readonly<Record<string, unknown>> {
  const options = readOptions(given)
  if (options === undefined) {
    throw invalidOption(call, what, `an object with ${names.join(', ')}`, new Refusal(shown(given)))
  }
  const complaint = unknownName(options, names)
  if (complaint !== undefined) throw new BelayError('invalid_option', `${call} ${complaint}`)
  return options
}

function settings<Table extends OptionTable>(
  call: string,
  options: Readonly<Record<string, unknown>>,
  table: Table,
): SettingsOf<Table> {
  const read: Record<string, unknown> = {}
  for (const name of Object.keys(table)) {
    const row = table[name]!
    const given = options[name] ?? (options[name] === undefined ? row.default : null)
    if (given !== undefined) read[name] = setting(call, name, given, row)
    else if (row.required) {
      throw new BelayError(
        'invalid_option',
        `${call}: ${name} must be given: ${row.takes.words}. It sets ${row.sets}.`,
      )
    }
  }
  return read as SettingsOf<Table>
}

function setting(call: string, name: string, given: unknown, { takes, sets }: OptionRow): unknown {
  const value = readAs(takes, given)
  if (Refusal.is(value)) throw invalidOption(call, name, takes.words, value, sets)
  return value
}
