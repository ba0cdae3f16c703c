import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, makeConsumer } from '../src/consumer.mjs'

const SDK = ['@opentelemetry/api@1.9.1', '@opentelemetry/sdk-node@0.223.0']
const PROM_CLIENT = 'prom-client@15.1.3'

/** Has Node take the copies for programs that cannot load ES modules with require(). */
const COMMON_JS = '--no-experimental-require-module'

// Installing needs npm's registry or its cache.
const isOffline = process.env['BELAY_OFFLINE'] === '1'

describe.skipIf(isOffline)('the packed telemetry beside the SDK of OpenTelemetry', () => {
  let consumer: Consumer
  beforeAll(async () => {
    consumer = await makeConsumer()
    await consumer.add(...SDK)
  })
  afterAll(() => consumer?.remove())

  it('type-checks, including its own declarations', async () => {
    expect(await consumer.compile('telemetry')).toEqual([])
  })

  it.each([
    ['a module', ['dist/telemetry/main.js']],
    ['require()', ['dist/telemetry/main.cjs']],
    ['the CommonJS copy', [COMMON_JS, 'dist/telemetry/main.cjs']],
  ])('makes one trace of a run, with its id: %s', async (_, program) => {
    const { runId, traces } = JSON.parse(await consumer.run(...program))

    const traceId = runId.replaceAll('-', '')
    expect(traces).toEqual([`${traceId} hello`, `${traceId} greet`])
  })

  it('measures the engine', async () => {
    const { measured } = JSON.parse(await consumer.run('dist/telemetry/main.js'))

    expect(measured).toEqual(
      expect.arrayContaining(['belay.runs.ended', 'belay.attempt.duration', 'belay.store.up']),
    )
  })

  it('brings the dashboard and the alerts as files', async () => {
    const files = [
      "import.meta.resolve('@belay/opentelemetry/grafana.json')",
      "import.meta.resolve('@belay/opentelemetry/alerts.yaml')",
    ]
    const printed = await consumer.run('--input-type=module', '-e', `console.log([${files}].join())`)

    const [dashboard = '', alerts = ''] = await Promise.all(
      printed
        .trim()
        .split(',')
        .map((url) => readFile(new URL(url), 'utf8')),
    )
    expect(JSON.parse(dashboard)).toHaveProperty('panels')
    expect(alerts).toMatch(/^groups:/m)
  })
})

describe.skipIf(isOffline)('the packed metrics for Prometheus, without an SDK', () => {
  let consumer: Consumer
  beforeAll(async () => {
    consumer = await makeConsumer()
    await consumer.add(PROM_CLIENT)
  })
  afterAll(() => consumer?.remove())

  it('need nothing of OpenTelemetry but its interface', async () => {
    const found = await readdir(join(consumer.folder, 'node_modules/@opentelemetry'))

    expect(found).toEqual(['api'])
  })

  it('type-check, and are served by node:http', async () => {
    const compiled = await consumer.compile('prometheus')
    const printed = await consumer.run('dist/prometheus/main.js')

    expect(compiled).toEqual([])
    expect(printed.trim().split('\n')).toEqual([
      'belay_runs_ended_total{workflow="greet",version="1",status="completed"} 1',
      'belay_store_up 1',
    ])
  })

  it.each([
    ['require()', []],
    ['the CommonJS copy', [COMMON_JS]],
  ])('can be loaded with %s', async (_, options) => {
    const program = "console.log(typeof require('@belay/opentelemetry/prometheus').metricsHandler)"

    expect(await consumer.run(...options, '-e', program)).toBe('function\n')
  })
})
