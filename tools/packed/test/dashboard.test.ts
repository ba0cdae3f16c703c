import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, makeConsumer } from '../src/consumer.mjs'

// Installing needs npm's registry or its cache.
describe.skipIf(process.env['BELAY_OFFLINE'] === '1')('the packed dashboard', () => {
  let consumer: Consumer
  beforeAll(async () => {
    consumer = await makeConsumer(['@belay/workflow', '@belay/testing', '@belay/dashboard'])
  })
  afterAll(() => consumer?.remove())

  it('brings its page with it, and nothing that only its build needs', async () => {
    const modules = join(consumer.folder, 'node_modules')
    const installed = await readdir(modules)

    expect(installed).toContain('hono')
    expect(installed.filter((name) => /preact|tanstack|wouter|playwright/.test(name))).toEqual([])
    expect(await readdir(join(modules, '@belay'))).toEqual(['dashboard', 'testing', 'workflow'])
  })

  it.each([
    ['node16', 'dashboard'],
    ['bundler', 'dashboard/bundler.json'],
  ])('type-checks with moduleResolution %s, including its own declarations', async (_, project) => {
    expect(await consumer.compile(project)).toEqual([])
  })

  it('serves its page, the assets of the page, and the runs', async () => {
    const { assets, runs } = JSON.parse(await consumer.run('dist/dashboard/main.js'))

    expect(assets).toEqual(
      expect.arrayContaining(['200 text/javascript; charset=utf-8', '200 text/css; charset=utf-8']),
    )
    expect(runs).toEqual(['first completed'])
  })

  it('can be loaded with require()', async () => {
    expect(await consumer.run('dashboard/main.cjs')).toBe('require() works: ada\n')
  })
})
