import type { ScheduleSnapshot } from '@belay/workflow'
import { BelayError } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { scheduleColumns, showFirings, showTimes, showTriggered } from '../schedules/shown.ts'
import type { Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'

const HISTORY_DEFAULT = 20
const LIST_DEFAULT = 100

/** `belay schedules list`, `preview`, `history`, `trigger`, `pause` and `resume`. */
export async function run(call: Call): Promise<ExitStatus | undefined> {
  const { connect, flags, out, quote } = call
  const name = call.args['schedule'] ?? ''
  const verb = call.verb.name.split(' ')[1] as keyof typeof VERBS | 'list'
  if (verb === 'list') return list(call)
  const store = await connect()
  try {
    return await VERBS[verb]({ store, schedules: store.engine.schedules, name, flags, out, quote })
  } catch (error) {
    if (!BelayError.is(error) || error.code !== 'unknown_schedule') throw error
    throw refused(`There is no schedule "${safe(name)}".`, 'schedules list')
  }
}

interface Named {
  readonly store: Awaited<ReturnType<Call['connect']>>
  readonly schedules: Awaited<ReturnType<Call['connect']>>['engine']['schedules']
  readonly name: string
  readonly flags: Call['flags']
  readonly quote: Call['quote']
  readonly out: Output
}

const VERBS = {
  async preview({ store, schedules, name, flags, out }: Named) {
    const times = await schedules.preview(name, { count: flags.count })
    const timeZone = (await schedules.get(name))?.timeZone
    return showTimes(out, times, { timeZone, now: await store.now() })
  },
  async history({ store, schedules, name, flags, out, quote }: Named) {
    const firings = await schedules.history(name, { limit: flags.limit ?? HISTORY_DEFAULT })
    // Without firings nobody has noticed yet whether there is such a schedule.
    if (firings.length === 0) await schedules.explain(name)
    return showFirings(out, firings, { now: await store.now(), quote })
  },
  async trigger({ schedules, name, out, quote }: Named) {
    return showTriggered(out, await schedules.trigger(name), { name, quote })
  },
  async pause({ schedules, name, flags: { reason }, out }: Named) {
    return changed(out, name, await schedules.pause(name, { reason }), 'paused', 'was paused already')
  },
  async resume({ schedules, name, out }: Named) {
    return changed(out, name, await schedules.resume(name), 'resumed', 'was not paused')
  },
}

function changed(out: Output, name: string, isChanged: boolean, now: string, already: string): undefined {
  if (out.json) out.document({ name, changed: isChanged })
  else if (isChanged) out.line(`${safe(name)}: ${now}`)
  else out.note(`${safe(name)} ${already}.`)
}

async function list({ connect, flags, out }: Call): Promise<undefined> {
  const { workflow = [], limit = LIST_DEFAULT, after } = flags
  if (workflow.length > 1) throw misused('schedules list takes one --workflow.')
  const store = await connect()
  const ofOne = workflow[0] === undefined ? {} : { workflow: workflow[0] }
  const schedules = await store.engine.schedules.list({ ...ofOne, limit, after })
  const last = schedules.at(-1)?.name
  const next = schedules.length === limit && last !== undefined ? last : null
  const columns = scheduleColumns(out, await store.now())
  if (out.json) out.document({ schedules: out.objects(columns.fields, schedules), next })
  else if (schedules.length === 0) out.note(await whyEmpty(store.engine.schedules, ofOne.workflow))
  else {
    out.table(columns.shown, schedules)
    if (next !== null) out.note(`More: belay schedules list --after '${safe(next)}'`)
  }
}

async function whyEmpty(
  schedules: { list(options: { readonly limit: number }): Promise<readonly ScheduleSnapshot[]> },
  workflow: string | undefined,
): Promise<string> {
  const any = workflow === undefined ? [] : await schedules.list({ limit: 1 })
  return any.length === 0
    ? 'There are no schedules.'
    : `No schedule is of workflow "${safe(workflow!)}"; others have some.`
}
