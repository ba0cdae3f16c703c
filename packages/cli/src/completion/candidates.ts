import type { CallProcess } from '../call.ts'
import { flagsOf } from '../help.ts'
import { type Completes, EVERYWHERE, FLAGS, type Flag, type FlagName } from '../table/flags.ts'
import { VERBS } from '../table/index.ts'
import type { Verb } from '../table/verb.ts'
import { fromStore, type Place } from './from-store.ts'

/** What may be typed next, and what it means. */
export interface Candidate {
  readonly value: string
  readonly about?: string
}

/** What may stand in place of the last of these words, which may be empty. The words are those after `belay`. */
export async function candidates(
  words: readonly string[],
  process: Pick<CallProcess, 'env' | 'cwd' | 'stdout'>,
): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? ''
  const before = readWords(words.slice(0, -1))
  const { verb, operands } = verbOf(before.operands)
  const place: Place = { flags: before.flags, run: operands[0], process }
  const [, inline, part] = /^--([a-z-]+)=(.*)$/.exec(typed) ?? []
  const flag = before.open ?? (inline as FlagName | undefined)
  if (flag !== undefined) {
    const given = inline === undefined ? typed : part!
    const kept = inline === undefined ? '' : `--${inline}=`
    return (await ofFlag(flag, given, place)).map(({ value, about }) => ({
      value: `${kept}${value}`,
      ...(about === undefined ? {} : { about }),
    }))
  }
  const found = typed.startsWith('-')
    ? flags(verb)
    : [...verbs(before.operands), ...(await ofArg(verb, operands, place))]
  return startingWith(typed, found)
}

interface Before {
  readonly operands: readonly string[]
  /** Values of flags, by name. */
  readonly flags: Readonly<Record<string, string>>
  /** A flag that still needs its value. */
  readonly open: FlagName | undefined
}

function readWords(words: readonly string[]): Before {
  const [operands, flags]: [string[], Record<string, string>] = [[], {}]
  let open: FlagName | undefined
  for (const word of words) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/.exec(word) ?? []
    if (open !== undefined) {
      flags[open] = word
      open = undefined
    } else if (name === undefined) operands.push(word)
    else if (value !== undefined) flags[name] = value
    else if (flagNamed(name)?.takes !== undefined) open = name as FlagName
  }
  return { operands, flags, open }
}

function flagNamed(name: string): Flag | undefined {
  return Object.hasOwn(FLAGS, name) ? FLAGS[name as FlagName] : undefined
}

/** The verb with the longest name that these words begin with; its arguments are the others. */
function verbOf(words: readonly string[]): {
  readonly verb: Verb | undefined
  readonly operands: readonly string[]
} {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    const verb = name === '' ? undefined : VERBS.find((each) => each.name === name)
    if (verb !== undefined) return { verb, operands: words.slice(name.split(' ').length) }
  }
  return { verb: undefined, operands: [] }
}

/** The words of verbs that go on from these. */
function verbs(words: readonly string[]): readonly Candidate[] {
  const found = new Map<string, string>()
  for (const { name, summary } of VERBS) {
    const parts = name.split(' ')
    const next = parts[words.length]
    if (name === '' || next === undefined || words.some((word, index) => word !== parts[index])) continue
    // A verb tells what it does; of a family its first member.
    if (!found.has(next)) found.set(next, parts.length === words.length + 1 ? summary : '')
  }
  return [...found].map(([value, about]) => ({ value, about }))
}

function flags(verb: Verb | undefined): readonly Candidate[] {
  const own = verb === undefined ? [] : flagsOf(verb)
  const shared = EVERYWHERE.map((name) => ({ name, about: FLAGS[name].about }))
  return [...own, ...shared, { name: 'help', about: 'what a verb does, with examples' }].map(
    ({ name, about }) => ({
      value: `--${name}`,
      about,
    }),
  )
}

/** Of a list separated by commas its last part. */
async function ofFlag(name: FlagName, typed: string, place: Place): Promise<readonly Candidate[]> {
  const flag = flagNamed(name)
  if (flag?.completes === undefined) return []
  const kept = flag.many === true ? typed.slice(0, typed.lastIndexOf(',') + 1) : ''
  const found = await valuesOf(flag.completes, place)
  return startingWith(
    typed,
    found.map((value) => ({ value: `${kept}${value}` })),
  )
}

async function ofArg(
  verb: Verb | undefined,
  operands: readonly string[],
  place: Place,
): Promise<readonly Candidate[]> {
  const args = verb?.args ?? []
  const last = args.at(-1)
  const arg = args[operands.length] ?? (last?.many ? last : undefined)
  return arg?.completes === undefined
    ? []
    : (await valuesOf(arg.completes, place)).map((value) => ({ value }))
}

async function valuesOf(completes: Completes, place: Place): Promise<readonly string[]> {
  if (completes === 'files') return []
  return typeof completes === 'string' ? fromStore(completes, place) : completes
}

function startingWith(typed: string, found: readonly Candidate[]): readonly Candidate[] {
  return found.filter(({ value }) => value.startsWith(typed))
}
