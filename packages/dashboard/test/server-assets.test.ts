import { expect, test, vi } from 'vitest'
import { asset, pageResponse } from '../src/assets.ts'

vi.mock('../src/assets.generated.ts', () => ({
  ASSETS: {
    'index.html': {
      type: 'text/html; charset=utf-8',
      body: '<base href="__BASE__"><script src="./assets/a.js"></script><link href="./assets/a.css">',
    },
    'assets/a.js': { type: 'text/javascript', body: 'const $ = "./b"' },
  },
}))

test('files have their types', async () => {
  const script = pageResponse('/assets/a.js', '/belay')
  expect([script.headers.get('content-type'), await script.text()]).toEqual([
    'text/javascript',
    'const $ = "./b"',
  ])
  expect(script.headers.get('etag')).toBe(asset('assets/a.js')?.etag)
})

test('the page finds its files also from a deeper address, although browsers ignore its base', async () => {
  expect(await pageResponse('/runs/1', '/belay').text()).toBe(
    '<base href="/belay/"><script src="/belay/assets/a.js"></script><link href="/belay/assets/a.css">',
  )
})

test.each(['constructor', '__proto__', 'assets/../index.html', 'assets', ''])('%j is no file', (path) => {
  expect(asset(path)).toBeUndefined()
})
