import type { JsonText } from '../adapter/new-item.ts'
import type { MailIn } from '../machine/answers.ts'
import type { Answered, MachineEvent } from '../machine/index.ts'
import { at } from '../machine/scope.ts'
import type { Run, Unit } from '../machine/state.ts'
import type { Asker } from './asker.ts'
import { type Json, jsonOf } from './json.ts'
import type { Letter, MailOfChild, OfUnit } from './letters.ts'
import type { Owned } from './owned.ts'

/** The event of a letter; a refusal if the run has no such unit. */
export function eventOf(
  owned: Owned,
  { event, payload }: Letter,
  asker: Pick<Asker, 'childError'>,
): MachineEvent | Answered {
  const { run } = owned
  if (!('path' in event || 'unit' in event)) return event
  const found = 'unit' in event ? run.units[event.unit] : unitAt(run, event.path)
  const unit = 'unit' in event ? event.unit : found?.no
  if (unit === undefined) {
    const what = `Run ${run.id} has no step ${JSON.stringify('path' in event ? event.path.join('.') : '')}.`
    return { refused: { code: 'invalid_option', what } }
  }
  const known = { ...event, unit } as OfUnit
  if (known.type !== 'mail' || known.mail.child === undefined) return withPayload(known, jsonOf(payload))
  return { ...known, mail: mailOfChild(owned, found, known.mail, { payload, asker }) }
}

/** What it has come to is its output; otherwise it is an error of its unit. */
function mailOfChild(
  owned: Owned,
  unit: Unit | undefined,
  { workflow = '', ...mail }: MailOfChild,
  { payload, asker }: { readonly payload: JsonText; readonly asker: Pick<Asker, 'childError'> },
): MailIn {
  const { child, ended } = mail
  if (ended === undefined || unit === undefined) return mail
  if (ended === 'completed') return { ...mail, output: jsonOf(payload) }
  return { ...mail, error: asker.childError(owned, unit, { id: child!, workflow, ended, cause: payload }) }
}

function unitAt({ root }: Run, path: readonly (string | number)[]): Unit | undefined {
  let unit: Unit | undefined = root
  for (const key of path) unit = unit?.units == null ? undefined : at(unit, key)
  return unit
}

function withPayload(event: OfUnit, payload: Json | undefined): OfUnit {
  if (payload === undefined) return event
  if (event.type === 'mail') return { ...event, mail: { ...event.mail, body: payload } }
  return event.type === 'skipStep' || event.type === 'within' ? { ...event, output: payload } : event
}
