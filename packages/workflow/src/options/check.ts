import { BelayError } from '../errors.ts'
import { didYouMean } from '../nearest.ts'
import { shown } from '../shown.ts'
import { type Kind, Refusal, readAs } from './kind.ts'

/** One option: what it sets, what it takes, and what holds when it is not given. */
export interface OptionRow<Value = unknown> {
  /** Ends a message: `It sets how often a worker looks for work.` */
  readonly sets: string
  readonly takes: Kind<Value>
  /** As users would write it. */
  readonly default?: unknown
  /** It must be given. */
  readonly required?: true
  /** Of a filter: it narrows down what the filter fits, so that {@link checkFilter} refuses undefined. */
  readonly narrows?: true
}

/** The options of one function, by name. */
export type OptionTable = Readonly<Record<string, OptionRow>>

/** What is read of the options of a table: undefined where an option has no default and was not given. */
export type SettingsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { readonly required: true } | { readonly default: unknown } ? never : undefined)
}

type ValueOf<Row> = Row extends { readonly takes: Kind<infer Value> } ? Value : never

/**
 * Checks the options of a call, and reads them: names, values, defaults. An option that is undefined is one that was not given. Every
 * option is looked at once: use what this returns, and not what was given.
 *
 * @throws BelayError `invalid_option` with the call, the option, what it must be and what it sets, and the nearest name that exists.
 */
export function checkOptions<const Table extends OptionTable>(
  call: string,
  given: unknown,
  table: Table,
): SettingsOf<Table> {
  return settings(call, ownOptions(call, given, Object.keys(table)), table)
}

/**
 * The same for a filter, in which a row that narrows is refused when it is given as undefined: the filter would silently fit everything,
 * and most often a variable was not set.
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
      `${call}: ${name} is undefined, and would fit everything. Give it a value, or leave the name out.`,
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

/** The error for a value that an option does not take. */
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

/** The options that were given, each looked at once, or undefined for what is no object of options. Never throws. */
export function readOptions(given: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    // The tag tells a Map, a Date or a Promise from an object of options, also of another realm.
    if (typeof given !== 'object' || Object.prototype.toString.call(given) !== '[object Object]')
      return undefined
    const options: Record<string, unknown> = Object.create(null)
    for (const name in given) options[name] = Reflect.get(given, name)
    return options
  } catch {
    return undefined
  }
}

/** The complaint about the first name that is none of these, or undefined. */
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
