import { execFile } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { memory } from '@belay/testing'
import { createEngine, type Engine } from '@belay/workflow'
import { AggregationTemporality } from '@opentelemetry/sdk-metrics'
import { Counter, Gauge, Registry } from 'prom-client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { oddRequests, sendAll } from '../../dashboard/test/setup/odd-requests.ts'
import { INSTRUMENTS, type Instrument, type InstrumentName } from '../src/metrics/instruments.ts'
import { type MetricsHandler, metricsHandler, prometheusName } from '../src/prometheus.ts'
import { isInstalled, order, store, worked } from './setup/measured.ts'
import { parsed } from './setup/parsed.ts'
import { proxy } from './setup/proxy.ts'
import { inRegister, withSdk } from './setup/readings.ts'

const promtool = await isInstalled('promtool')

describe('the text for Prometheus', () => {
  it('has the metrics of the table, each with its type, its help, its labels and no key of an item', async () => {
    const register = new Registry()
    let handle: MetricsHandler | undefined
    await worked((engine) => {
      handle = metricsHandler(engine, { register })
    })
    const response = await handle!(new Request('http://localhost/metrics'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await response.text()
    const families = parsed(text)
    const names = Object.keys(INSTRUMENTS) as InstrumentName[]
    expect([...families.keys()].sort()).toEqual(names.map(prometheusName).sort())
    for (const name of names) {
      const { kind, help, labels }: Instrument = INSTRUMENTS[name]
      const family = families.get(prometheusName(name))!
      expect(family).toMatchObject({ type: kind, help })
      for (const sample of family.samples) {
        const own = Object.keys(sample.labels).filter((label) => label !== 'le')
        expect([name, own.sort()]).toEqual([name, [...labels].sort()])
      }
    }
    // A bucket counts all values up to its bound, and the last one counts all.
    const buckets = families
      .get('belay_attempt_duration_seconds')!
      .samples.filter(
        ({ name, labels }) =>
          name.endsWith('_bucket') && labels['step'] === 'charge' && labels['direction'] === 'forward',
      )
    expect(buckets.at(-1)).toMatchObject({ labels: { le: '+Inf' }, value: 4 })
    expect(buckets.map(({ value }) => value)).toEqual(buckets.map(({ value }) => value).sort((a, b) => a - b))
    expect(text).not.toMatch(/png|4711/)
    // The same as OpenMetrics, which an existing register may be set to.
    const open = register as unknown as Registry<'application/openmetrics-text; version=1.0.0; charset=utf-8'>
    open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    const openText = await open.metrics()
    expect(openText).toContain('# TYPE belay_runs_started counter')
    expect(openText).toContain('belay_runs_started_total{workflow="order",version="3"} 4')
  })

  it.skipIf(!promtool)(
    'passes promtool check metrics (skipped where promtool is not installed)',
    async () => {
      let handle: MetricsHandler | undefined
      await worked((engine) => {
        handle = metricsHandler(engine)
      })
      const text = await (await handle!(new Request('http://localhost/metrics'))).text()
      const check = promisify(execFile)('promtool', ['check', 'metrics'])
      check.child.stdin!.end(text)
      expect(await check).toEqual({ stdout: '', stderr: '' })
    },
  )
})

describe('metricsHandler()', () => {
  it('serves node:http: GET, HEAD, and 405 for the rest', async () => {
    const { engine } = idle()
    const server = createServer(metricsHandler(engine).node).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
    const got = await fetch(url)
    expect(got.status).toBe(200)
    expect(parsed(await got.text()).get('belay_store_up')!.samples).toMatchObject([{ value: 1 }])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      got.headers.get('content-type'),
      '',
    ])
    const post = await fetch(url, { method: 'POST', body: 'x' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('writes one answer for all who scrape within a second', async () => {
    let collected = 0
    const register = new Registry()
    const collect = () => {
      collected += 1
    }
    new Gauge({ name: 'app_gauge', help: 'A gauge', registers: [register], collect }).set(1)
    const { engine } = idle()
    const handle = metricsHandler(engine, { register })

    const scrape = async () => (await handle(new Request('http://localhost/'))).text()
    const texts = await Promise.all(Array.from({ length: 50 }, scrape))
    texts.push(await scrape())

    expect(collected).toBe(1)
    expect(new Set(texts).size).toBe(1)
    expect(texts[0]).toContain('app_gauge 1')
  })

  it('answers 503 with retry-after while 50 slow readers are being answered', async () => {
    const { engine } = idle()
    const handler = metricsHandler(engine)
    const slow = Array.from({ length: 50 }, () => answerTo(handler))

    const next = answerTo(handler)
    expect(next.head).toEqual([503, expect.objectContaining({ 'retry-after': '1' })])

    slow[0]!.leave()
    const later = answerTo(handler)
    await vi.waitFor(() => expect(later.head).toEqual([200, expect.anything()]), 10_000)
  })

  it('goes on after any request', async () => {
    const { engine } = idle()
    const server = createServer(metricsHandler(engine).node).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo

    await sendAll(port, oddRequests(`127.0.0.1:${port}`))

    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200)
  })

  it('serves Fetch in the same way', async () => {
    const { engine } = idle()
    const handle = metricsHandler(engine)
    const head = await handle(new Request('http://localhost/', { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
    const put = await handle(new Request('http://localhost/', { method: 'DELETE' }))
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('serves what else is in the given register', async () => {
    const register = new Registry()
    new Counter({ name: 'orders_total', help: 'Orders', registers: [register] }).inc(3)
    const { engine } = idle()
    const text = await (await metricsHandler(engine, { register })(new Request('http://localhost/'))).text()
    expect(parsed(text).get('orders_total')!.samples).toMatchObject([{ value: 3 }])
    expect(text).toContain('belay_store_up 1')
  })

  it('answers 500 without internals, and logs, if the register fails', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => logged.mockRestore())
    const register = new Registry()
    const failure = new Error('password=secret')
    new Counter({
      name: 'orders_total',
      help: 'Orders',
      registers: [register],
      collect: () => {
        throw failure
      },
    })
    const response = await metricsHandler(idle().engine, { register })(new Request('http://localhost/'))
    expect([response.status, await response.text()]).toEqual([
      500,
      'The metrics could not be collected. The log of this process says why.\n',
    ])
    expect(logged).toHaveBeenCalledWith('The metrics could not be collected.', failure)
  })

  it('counts nothing twice when two handlers of an engine share a register, until both are stopped', async () => {
    const register = new Registry()
    const { engine, run } = idle()
    const [one, two] = [metricsHandler(engine, { register }), metricsHandler(engine, { register })]
    await engine.start()
    await run()
    const started = async () => (await inRegister(register))['belay.runs.started']
    expect(await started()).toMatchObject([{ value: 1 }])
    one.stop()
    one.stop()
    await run()
    expect(await started()).toMatchObject([{ value: 2 }])
    two.stop()
    expect(register.getMetricsAsArray()).toEqual([])
    // Another engine may have it now.
    metricsHandler(idle().engine, { register })
  })

  it('refuses the register of another engine, a taken name, and what is no engine, no register or no option', () => {
    const register = new Registry()
    const { engine } = idle()
    metricsHandler(engine, { register })
    expect(refusal(() => metricsHandler(idle().engine, { register }))).toMatchObject({
      code: 'invalid_option',
      message:
        'metricsHandler(): the register has the metrics of another engine already. Give each engine a register of its own, and serve each at a path of its own.',
    })
    const taken = new Registry()
    new Counter({ name: 'belay_runs_started_total', help: 'Mine', registers: [taken] })
    expect(refusal(() => metricsHandler(engine, { register: taken }))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('a metric "belay_runs_started_total"'),
    })
    for (const given of [undefined, null, {}, 'engine', () => {}]) {
      expect(refusal(() => metricsHandler(given as unknown as Engine))).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining(
          'metricsHandler(): the engine must be what createEngine() returned; got',
        ),
      })
    }
    for (const options of [null, 3, { registry: register }, { register: {} }, { register: null }]) {
      expect(refusal(() => metricsHandler(engine, options as { register: Registry }))).toMatchObject({
        code: 'invalid_option',
      })
    }
  })
})

describe('a store that does not answer', () => {
  it('leaves its gauges out and says so, and the handler still answers; later everything is there again', async () => {
    const way = await proxy()
    const engine = (await store(way.url))({ workflows: [order] })
    const handle = metricsHandler(engine)
    const sdk = withSdk(engine, { temporality: AggregationTemporality.DELTA })
    await engine.start()
    const scrape = async () => {
      const response = await handle(new Request('http://localhost/'))
      expect(response.status).toBe(200)
      const families = parsed(await response.text())
      return {
        up: families.get('belay_store_up')!.samples.map(({ value }) => value),
        ready: families.get('belay_queue_ready')!.samples.map(({ value }) => value),
        outages: families.get('belay_store_outages_total')!.samples[0]!.value,
        otel: await sdk.collect(),
      }
    }
    const before = await vi.waitFor(async () => {
      const scraped = await scrape()
      expect(scraped).toMatchObject({ up: [1], ready: [0] })
      return scraped
    }, 30_000)
    expect(before.otel).toMatchObject({
      'belay.store.up': [{ value: 1 }],
      'belay.queue.ready': [{ value: 0 }],
    })

    way.goSilent()
    const without = await vi.waitFor(async () => {
      const scraped = await scrape()
      expect(scraped).toMatchObject({ up: [0], ready: [] })
      // One, although every kind of call failed.
      expect(scraped.outages).toBe(1)
      return scraped
    }, 60_000)
    expect(without.otel['belay.store.up']).toMatchObject([{ value: 0 }])
    expect(without.otel['belay.queue.ready']).toBeUndefined()

    way.heal()
    await vi.waitFor(async () => expect(await scrape()).toMatchObject({ up: [1], ready: [0] }), 60_000)
  })
})

describe('the package', () => {
  it('needs no OpenTelemetry for Prometheus', () => {
    const seen = new Set<string>()
    const modules = new Set<string>()
    const look = (file: URL) => {
      if (seen.has(file.href)) return
      seen.add(file.href)
      for (const [, from] of readFileSync(file, 'utf8').matchAll(/ from '([^']+)'/g)) {
        if (from!.startsWith('.')) look(new URL(from!, file))
        else modules.add(from!)
      }
    }
    look(new URL('../src/prometheus.ts', import.meta.url))
    // From the example in its docstring.
    modules.delete('@belay/opentelemetry/prometheus')
    expect([...modules].sort()).toEqual(['@belay/workflow', 'node:http', 'node:perf_hooks', 'prom-client'])
  })
})

/** An engine on a store in memory. */
function idle() {
  const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [order], logger: false })
  onTestFinished(() => engine.close())
  return { engine, run: async () => (await engine.run(order, {})).result() }
}

function refusal(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

/** A reader that is answered and reads nothing until it leaves. */
function answerTo({ node }: MetricsHandler) {
  const response = new EventEmitter() as EventEmitter & { head?: unknown }
  const writable = Object.assign(response, {
    writeHead(...head: readonly unknown[]) {
      response.head = head
      return writable
    },
    end() {},
    leave: () => response.emit('close'),
  })
  node({ method: 'GET' } as IncomingMessage, writable as unknown as ServerResponse)
  return writable
}
