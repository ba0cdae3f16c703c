import type { Mail, Sent } from '@belay/workflow/store'
import { type MailRow, mailKey, type Rows } from './rows.ts'

export function send(rows: Rows, mail: readonly Mail[]): readonly Sent[] {
  return mail.map((each): Sent => {
    const run = rows.runs.get(each.run)
    if (run === undefined) return { result: 'unknown' }
    const known = rows.mail.get(mailKey(each.run, each.key))
    if (known !== undefined) {
      const { sequence, payload, answer } = known
      return { result: 'duplicate', sequence, payload, answer }
    }
    const live = rows.live.get(each.run)
    if (live === undefined && each.reopens !== true) return { result: 'ended' }
    const { sequence, seen } = store(rows, each, live?.owner ?? null)
    if (live === undefined) rows.reopen(each.run, null)
    return { result: 'sent', sequence, owner: seen }
  })
}

/** The outcome of a transaction; false if there is one, or none may be any more. */
export function within(rows: Rows, outcome: Mail): boolean {
  const live = rows.live.get(outcome.run)
  if (live === undefined || rows.mail.has(mailKey(outcome.run, outcome.key))) return false
  store(rows, outcome, live.owner)
  return true
}

/** An outcome that no transaction may store any more. */
export function bury(rows: Rows, run: string, key: string): void {
  rows.keep({ ...store(rows, { run, key, event: null }, null), isApplied: true })
}

function store(rows: Rows, { run, key, event, payload = null, reopens }: Mail, seen: number | null): MailRow {
  rows.counters.sequence += 1
  const { sequence } = rows.counters
  const row = {
    run,
    key,
    event,
    payload,
    seen,
    sequence,
    answer: null,
    isApplied: false,
    reopens: reopens === true,
  }
  rows.keep(row)
  return row
}

/** Mail that met an end: the run goes on with it, or it came too late. */
export function answerLate(rows: Rows): void {
  for (const row of [...rows.open.values()]) {
    if (rows.live.has(row.run)) continue
    if (row.reopens && rows.runs.has(row.run)) rows.reopen(row.run, null)
    else rows.keep({ ...row, isApplied: true, answer: '"too late"' })
  }
}
