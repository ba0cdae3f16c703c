import type { LimitSetting, LimitSnapshot, RateSnapshot } from '@belay/workflow'
import type { Duration } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { fieldColumns } from '../terminal/field-columns.ts'
import type { Column, Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { ago } from '../terminal/time.ts'

const FIELDS = fieldColumns<LimitSnapshot>([
  'name',
  'concurrency',
  'rateLimit',
  'declared',
  'set',
  'inUse',
  'waiting',
  'pushedBackUntil',
])

/** `belay limits`, `limits set` and `limits reset`. */
export async function run(call: Call): Promise<ExitStatus | undefined> {
  const { verb, connect, args, out } = call
  if (verb.name === 'limits') {
    await list(await connect(), out)
    return
  }
  const name = args['limit']!
  const setting = verb.name === 'limits set' ? settingOf(call) : undefined
  const { engine } = await connect()
  const before = await engine.limits.get(name)
  const after =
    setting === undefined ? await engine.limits.reset(name) : await engine.limits.set(name, setting)
  if (out.json) out.document(out.objects(FIELDS, [after])[0])
  else {
    const arrow = out.isAscii ? '->' : '→'
    out.line(`${safe(name)}: ${before === undefined ? '' : `${allowed(before)} ${arrow} `}${allowed(after)}`)
  }
  return
}

function settingOf({ flags: { slots, rate } }: Call): LimitSetting {
  if ((slots === undefined) === (rate === undefined))
    throw misused('Give either --slots or --rate.', 'limits set payments --slots 20')
  if (slots !== undefined) return { concurrency: slots }
  const [, limit, per] = /^(\d+)\/(\d.*)$/.exec(rate!) ?? []
  if (limit === undefined) throw misused(`--rate takes a number and a time, like 100/1s, got "${rate}".`)
  return { rateLimit: { limit: Number(limit), per: per as Duration } }
}

async function list(store: Store, out: Output): Promise<void> {
  const limits = await store.engine.limits.list()
  if (out.json) out.document({ limits: out.objects(FIELDS, limits) })
  else if (limits.length === 0) out.note('There are no limits: no worker has declared one.')
  else out.table(columnsOf(out, await store.now()), limits)
}

function columnsOf(out: Output, now: Date): readonly Column<LimitSnapshot>[] {
  const shown: readonly Column<LimitSnapshot>[] = [
    { field: 'name', shown: ({ name }) => safe(name), value: ({ name }) => name },
    { field: 'allows', shown: allowed, value: allowed },
    {
      field: 'inUse',
      title: 'IN USE',
      align: 'right',
      shown: ({ inUse }) => String(inUse),
      value: ({ inUse }) => inUse,
    },
    {
      field: 'waiting',
      align: 'right',
      shown: ({ waiting }) => String(waiting),
      value: ({ waiting }) => waiting,
    },
    { field: 'state', title: '', shown: (limit) => stateOf(out, limit, now), value: wordOf },
  ]
  return [...shown, ...FIELDS.filter(({ field }) => !shown.some((column) => column.field === field))]
}

/** `0 slots (code: 20)`, `100 per 1 s, burst 1`. */
function allowed({ concurrency, rateLimit, declared, set }: LimitSnapshot): string {
  const now = rateLimit ?? concurrency ?? 0
  const of = typeof now === 'number' ? (now === 1 ? ' slot' : ' slots') : ''
  const code = set === undefined || declared === undefined ? '' : ` (code: ${settingText(declared)})`
  return `${settingText(now)}${of}${code}`
}

function settingText(setting: number | RateSnapshot): string {
  if (typeof setting === 'number') return String(setting)
  return `${setting.limit} per ${timeText(setting.perMs)}, burst ${setting.burst}`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** In the largest unit that says it exactly: a rate is no estimate. */
function timeText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? ['ms', 1]
  return `${ms / size} ${unit}`
}

function wordOf({ concurrency, rateLimit, pushedBackUntil }: LimitSnapshot): string {
  if ((concurrency ?? rateLimit?.limit) === 0) return 'closed'
  return pushedBackUntil === undefined ? '' : 'pushed back'
}

function stateOf(out: Output, limit: LimitSnapshot, now: Date): string {
  const word = wordOf(limit)
  if (word === 'closed') return out.status('needs you', word)
  if (word === '') return ''
  return out.status('waiting', `${word}, goes on ${ago(limit.pushedBackUntil!, now)}`)
}
