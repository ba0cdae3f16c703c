import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { pageResponse } from '../src/assets.ts'
import { secured } from '../src/security.ts'

vi.mock('../src/assets.generated.ts', () => ({
  ASSETS: {
    'index.html': {
      type: 'text/html; charset=utf-8',
      body: '<base href="__BASE__"><script src="./assets/a.js"></script><link href="./assets/a.css">',
    },
    'assets/a.js': { type: 'text/javascript', body: 'const $ = "./b"' },
  },
}))

const asked = (path: string, encoding?: string) =>
  pageResponse(
    path,
    '/belay',
    new Request(
      'http://localhost',
      encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } },
    ),
  )

test('files have their types, and a browser keeps them: their names carry a hash', async () => {
  const script = await asked('/assets/a.js')
  expect([script.headers.get('content-type'), await script.text()]).toEqual([
    'text/javascript',
    'const $ = "./b"',
  ])
  expect(secured(await asked('/assets/a.js')).headers.get('cache-control')).toBe(
    'private, max-age=31536000, immutable',
  )
  expect(secured(await asked('/runs/1')).headers.get('cache-control')).toBe('no-store')
})

test('files are compressed for who takes gzip', async () => {
  for (const encoding of ['gzip', 'br;q=1.0, gzip;q=0.8']) {
    const script = await asked('/assets/a.js', encoding)
    expect([script.headers.get('content-encoding'), script.headers.get('vary')]).toEqual([
      'gzip',
      'accept-encoding',
    ])
    expect(gunzipSync(await script.arrayBuffer()).toString()).toBe('const $ = "./b"')
  }
  expect((await asked('/assets/a.js', 'br')).headers.get('content-encoding')).toBeNull()
})

test('the page finds its files also from a deeper address, although browsers ignore its base', async () => {
  expect(await (await asked('/runs/1')).text()).toBe(
    '<base href="/belay/"><script src="/belay/assets/a.js"></script><link href="/belay/assets/a.css">',
  )
})

test.each(['constructor', '__proto__', 'assets/../index.html', 'assets', ''])(
  '%j is no file',
  async (path) => {
    expect((await asked(`/${path}`)).headers.get('content-type')).toBe('text/html; charset=utf-8')
  },
)
