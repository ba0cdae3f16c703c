import type { JsonText } from '../adapter/new-item.ts'
import type { MailIn } from '../machine/answers.ts'
import type { MachineEvent } from '../machine/index.ts'
import type { StoredMail } from '../store/index.ts'

/** How a sender names a unit: by its number, or by keys from the root on, such as `['pack', 2, 'label']`. */
export type Address = { readonly unit: number } | { readonly path: readonly (string | number)[] }

/** Of one unit. */
export type OfUnit = Extract<MachineEvent, { readonly unit: number }>
/** Of one type each: `Omit` of a union would keep only what all have. */
type Addressed<Event> = Event extends OfUnit ? Omit<Event, 'unit'> & Address : Event

/** What mail says: an event of the machine. A user’s value in it travels beside it. */
export type MailEvent = Addressed<
  Extract<
    MachineEvent,
    {
      readonly type:
        | ('mail' | 'within' | 'lost' | 'retryStep' | 'retryUndo' | 'skipUndo' | 'giveUp' | 'skipStep')
        | ('cancel' | 'pause' | 'resume' | 'setPriority' | 'undoRun' | 'retry' | 'drop')
    }
  >
>

/** Mail as its owner reads it. */
export interface Letter {
  readonly sequence: number
  readonly event: MailEvent
  readonly payload: JsonText
}

export const letterOf = ({ sequence, event, payload }: StoredMail): Letter => ({
  sequence,
  event: JSON.parse(event!) as MailEvent,
  payload,
})

/** What a child says, with the name of its workflow if it has not completed. */
export type MailOfChild = MailIn & { readonly workflow?: string }
