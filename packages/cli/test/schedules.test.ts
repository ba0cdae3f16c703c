import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const report = define('nightly-report', { version: 1 }).step('make', { run: () => 1 })

async function twoSchedules() {
  const store = await testStore()
  const engine = store.engine()
  const shared = { workflow: report }
  await engine.schedules.put('nightly-report', { ...shared, cron: '0 3 * * *', timeZone: 'Europe/Zurich' })
  await engine.schedules.put('digest:7', { ...shared, cron: '0 8 * * 1', timeZone: 'Asia/Tokyo' })
  await engine.schedules.pause('digest:7', { reason: 'on holiday' })
  const say = (...argv: string[]) => belay(['schedules', ...argv], { env: store.env, columns: 80 })
  return { ...store, engine, say }
}

describe('belay schedules', () => {
  it('list shows times, the next one, and why one is paused', async () => {
    const { say } = await twoSchedules()

    const { stdout, status } = await say('list')

    const [titles, digest, nightly] = stdout.split('\n')
    expect(titles).toMatch(/^STATUS +NAME +WORKFLOW +TIMES +NEXT$/)
    expect(digest).toBe('║ paused  digest:7        nightly-report  0 8 * * 1  Asia/Tokyo     on holiday')
    expect(nightly).toMatch(
      /^○ active +nightly-report +nightly-report +0 3 \* \* \* {2}Europe\/Zurich +in \d+ \w+$/,
    )
    expect(status).toBe(0)
  })

  it('list gives pages to scripts, without inputs', async () => {
    const { say } = await twoSchedules()

    const first = JSON.parse((await say('list', '--limit', '1', '--json')).stdout)
    const second = JSON.parse((await say('list', '--after', first.next, '--json', '--fields', 'name')).stdout)

    expect(first).toMatchObject({
      schedules: [{ name: 'digest:7', cron: '0 8 * * 1', timeZone: 'Asia/Tokyo', pauseReason: 'on holiday' }],
      next: 'digest:7',
    })
    expect(first.schedules[0]).not.toHaveProperty('input')
    expect(second).toEqual({ schedules: [{ name: 'nightly-report' }], next: null })
  })

  it('list says that none are of a workflow', async () => {
    const { say } = await twoSchedules()

    expect((await say('list', '--workflow', 'other')).stderr).toBe(
      'No schedule is of workflow "other"; others have some.\n',
    )
  })

  it('preview tells each time in its zone and in UTC', async () => {
    const { say } = await twoSchedules()

    const { stdout } = await say('preview', 'nightly-report', '--count', '2')

    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(stdout).toMatch(
      /^\d{4}-\d\d-\d\d 03:00 Europe\/Zurich {3}0[12]:00 UTC {3}in (\d+ h|\d+ min)( \d+ min)?\n/,
    )
  })

  it('preview gives a pipe ISO times', async () => {
    const { env } = await twoSchedules()

    const { stdout } = await belay(['schedules', 'preview', 'digest:7', '--count', '1'], { env })

    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT23:00:00\.000Z\t\d{4}-\d\d-\d\dT23:00:00\.000Z\n$/)
  })

  it('trigger starts a run, which the history names; a second one is skipped', async () => {
    const { say, engine } = await twoSchedules()

    const first = await say('trigger', 'nightly-report')
    const second = await say('trigger', 'nightly-report')
    const history = await say('history', 'nightly-report')

    const [run] = await engine.runs.list()
    expect(first.stdout).toBe(`nightly-report: started run ${run!.id}\n`)
    expect(first.stderr).toBe(`Follow: belay watch ${run!.id}\n`)
    expect(second.stdout).toMatch(/^nightly-report: skipped: /)
    expect([first.status, second.status]).toEqual([0, 1])
    expect(history.stdout).toMatch(/^STATUS +TIME +RUN +CAUSE +REASON\n» skipped .*\n● started .* trigger\n$/)
  })

  it('pause and resume say what has changed, and what has not', async () => {
    const { say, engine } = await twoSchedules()

    const paused = await say('pause', 'nightly-report', '--reason', 'moving')
    const again = await say('pause', 'nightly-report')
    const resumed = await say('resume', 'nightly-report', '--json')

    expect(paused.stdout).toBe('nightly-report: paused\n')
    expect([again.stdout, again.stderr, again.status]).toEqual([
      '',
      'nightly-report was paused already.\n',
      0,
    ])
    expect(JSON.parse(resumed.stdout)).toEqual({ name: 'nightly-report', changed: true })
    expect((await engine.schedules.get('nightly-report'))?.status).toBe('active')
  })

  it.each(['preview', 'history', 'trigger', 'pause', 'resume'])(
    '%s refuses an unknown name',
    async (verb) => {
      const { say } = await twoSchedules()

      const { stdout, stderr, status } = await say(verb, 'nope')

      expect([stdout, stderr]).toEqual(['', 'There is no schedule "nope".\n  belay schedules list\n'])
      expect(status).toBe(1)
    },
  )

  it('a member of the family has help, and misses its argument, in the same streams as others', async () => {
    const help = await belay(['schedules', 'preview', '--help'])
    const missing = await belay(['schedules', 'preview'])

    expect(help.stdout).toMatch(/^belay schedules preview <schedule> \[flags\]\n/)
    expect([missing.stdout, missing.stderr, missing.status]).toEqual(['', 'Schedule is missing.\n', 2])
  })

  it('without a verb shows its verbs', async () => {
    const { stdout } = await belay(['schedules'])

    expect(stdout).toContain('schedules preview  its next times')
  })
})
