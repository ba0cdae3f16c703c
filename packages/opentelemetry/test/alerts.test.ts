import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { parse as parseCommand } from '../../cli/src/parse.ts'
import { STATUSES } from '../../cli/src/table/flags.ts'
import { labelsOf, problemsOf, SERIES } from './promql.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<'summary' | 'description' | 'command', string>>
}

interface AlertTest {
  readonly alertname: string
  readonly exp_alerts: readonly unknown[]
}

const path = (name: string) => fileURLToPath(new URL(`../alerts/${name}`, import.meta.url))
const read = (name: string) => parseYaml(readFileSync(path(name), 'utf8')) as unknown
const { groups } = read('belay.yaml') as { groups: readonly { name: string; rules: readonly Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const { tests } = read('belay.test.yaml') as {
  tests: readonly { alert_rule_test: readonly AlertTest[] }[]
}

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

describe('the alerts', () => {
  it('are one group', () => {
    expect(groups.map(({ name }) => name)).toEqual(['belay'])
    expect(rules.map(({ alert }) => alert)).toEqual([
      'BelayOldestReadyStep',
      'BelayUndoParked',
      'BelayNoWorker',
      'BelayStoreOutage',
      'BelayWorkflowFails',
      'BelayQueueGrows',
      'BelayScheduleLate',
    ])
  })

  it('are checked by a parser that finds errors', () => {
    expect(problemsOf('max( > 1')).toEqual(['syntax at 5'])
    expect(problemsOf('belay_run_duration_total')).toEqual(['no series belay_run_duration_total'])
    expect(problemsOf('sum by (step) (rate(belay_runs_ended_total{call="a"}[5m]))')).toEqual([
      'belay_runs_ended_total has no call',
      'belay_runs_ended_total has no step',
    ])
    expect(problemsOf('belay_runs_live{status=~"running|lost"}')).toEqual(['no status lost'])
  })

  it('know the names that are exported', () => {
    expect(SERIES.get('belay_run_duration_seconds_bucket')).toContain('le')
    for (const name of ['belay_attempts_ended_total', 'belay_queue_oldest_age_seconds', 'belay_store_up'])
      expect(SERIES.has(name)).toBe(true)
  })

  it.each(rules)('$alert asks for series and labels that are exported', ({ expr, annotations }) => {
    expect(problemsOf(expr)).toEqual([])
    const named = [
      ...Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, name]) => name)
    for (const name of named) expect(labelsOf(expr)).toContain(name)
  })

  it.each(rules)('$alert says in sentences what is wrong, with its value', ({ labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(Object.keys(annotations).sort()).toEqual(['command', 'description', 'summary'])
    expect(annotations.summary).toMatch(/^.*\.$/)
    expect(annotations.description).toMatch(/^[A-Z].*\{\{ \$value.*\.$/)
  })

  it.each(rules)('$alert names a command of belay that can be typed', ({ annotations: { command } }) => {
    // A shell takes off the quotes.
    const words = command.replaceAll(/'\{\{ \$labels\.workflow \}\}'/g, 'order').split(' ')
    expect(words.shift()).toBe('belay')

    const typed = parseCommand(words, { stdout: process.stdout }, '0.0.0')

    if (!('verb' in typed)) throw new Error(`"${command}" only shows help.`)
    expect(typed.verb.access).toBe('read')
    for (const status of typed.flags.status ?? []) expect(STATUSES).toContain(status)
  })

  it.each(rules)('$alert has samples with which it fires, and others with which it does not', ({ alert }) => {
    const own = tests.map(({ alert_rule_test }) =>
      alert_rule_test.filter(({ alertname }) => alertname === alert),
    )
    expect(own.some((cases) => cases.some(({ exp_alerts }) => exp_alerts.length > 0))).toBe(true)
    expect(
      own.some((cases) => cases.length > 0 && cases.every(({ exp_alerts }) => exp_alerts.length === 0)),
    ).toBe(true)
  })

  it.skipIf(!hasPromtool)('are rules for Prometheus (skipped without promtool)', () => {
    const said = execFileSync('promtool', ['check', 'rules', path('belay.yaml')], { encoding: 'utf8' })
    expect(said).toContain(`${rules.length} rules found`)
  })

  it.skipIf(!hasPromtool)('fire with recorded samples, and only then (skipped without promtool)', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path('belay.test.yaml')], {
      encoding: 'utf8',
    })
    expect(`${stdout}${stderr}`).toContain('SUCCESS')
    expect(status).toBe(0)
  })
})
