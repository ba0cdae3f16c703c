import { belay } from '../setup/belay.ts'
import type { Shop } from '../setup/shop.ts'

/** Ids as they would be at half past six, in the order in which they are met. */
const IDS = [
  '01a20ed2-e956-710f-9b00-026f0a2afc59',
  '01a20ed2-e9a7-72e4-b100-021d97a25874',
  '01a20ed2-e9b8-7048-b000-0156696b76c8',
  '01a20ed2-eecb-71cc-af00-0117184adbf7',
]

/** What a person sees who types these commands one after another: each with its prompt, its output, and its status unless that is 0. */
export async function transcript(shop: Shop, commands: readonly (readonly string[])[]): Promise<string> {
  const parts: string[] = []
  for (const argv of commands) {
    const { status, stdout, stderr } = await belay(argv, {
      env: { ...shop.env, USER: 'ops', LOGNAME: 'ops' },
      columns: 80,
    })
    const typed = ['belay', ...argv.map((word) => (/^[\w:.@/-]+$/.test(word) ? word : `'${word}'`))].join(' ')
    parts.push([`$ ${typed}`, stdout + stderr + (status === 0 ? '' : `→ ${status}`)].join('\n').trimEnd())
  }
  return lasting(
    parts.join('\n\n'),
    Object.values(shop.runs).map(({ id }) => id),
  )
}

/** The same on every machine at every time: ids, times and durations are made alike. */
function lasting(text: string, ids: readonly string[]): string {
  let told = text
  ids.forEach((id, index) => {
    // The longest forms first: a short one begins each of them.
    for (let length = 36; length >= 13; length -= 1) {
      told = told.replaceAll(
        id.slice(0, length).replace(/-$/, ''),
        IDS[index]!.slice(0, length).replace(/-$/, ''),
      )
    }
  })
  return (
    told
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-24T18:30:33.200Z')
      .replaceAll(/\d\d:\d\d:\d\d UTC/g, '18:30:33 UTC')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, '2026-12-01 18:30 UTC')
      // Two hours ago it was another day, or not.
      .replaceAll('since 2026-12-01 18:30 UTC', 'since 18:30:33 UTC')
      .replaceAll(/\d+(\.\d)? s ago/g, '6 min ago')
      .replaceAll(/\b\d+(\.\d)? m?s\b/g, '12 ms')
      .replaceAll(/^( +at \w+) \(.*\)$/gm, '$1 (orders/charge.ts:13:15)')
      .replaceAll(/\S+ at \S+:\d+( \((?:--url|BELAY_URL|DATABASE_URL)\))/g, 'shop at db.internal:5432$1')
      .replaceAll(/schema cli_\w+/g, 'schema belay')
      .replaceAll(/, as \w+/g, ', as ops')
      .replaceAll(/\bby \w+$/gm, 'by ops')
  )
}
