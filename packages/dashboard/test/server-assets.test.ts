import { expect, test, vi } from 'vitest'
import { asset, pageResponse } from '../src/assets.ts'

vi.mock('../src/assets.generated.ts', () => ({
  ASSETS: {
    'index.html': {
      type: 'text/html; charset=utf-8',
      text: '<base href="__BASE__"><script src="./assets/a.js"></script><link href="./assets/a.css">',
    },
    'assets/a.js': { type: 'text/javascript', text: 'const $ = "./b"' },
    'assets/a.woff2': { type: 'font/woff2', base64: 'AP+A' },
  },
}))

test('files have their types, as text or as bytes', async () => {
  const script = pageResponse('/assets/a.js', '/belay')
  expect([script.headers.get('content-type'), await script.text()]).toEqual([
    'text/javascript',
    'const $ = "./b"',
  ])
  expect(script.headers.get('etag')).toBe(asset('assets/a.js')?.etag)
  const font = pageResponse('/assets/a.woff2', '')
  expect([...new Uint8Array(await font.arrayBuffer())]).toEqual([0, 255, 128])
})

test('the page finds its files also from a deeper address, although browsers ignore its base', async () => {
  expect(await pageResponse('/runs/1', '/belay').text()).toBe(
    '<base href="/belay/"><script src="/belay/assets/a.js"></script><link href="/belay/assets/a.css">',
  )
})

test.each(['constructor', '__proto__', 'assets/../index.html', 'assets', ''])('%j is no file', (path) => {
  expect(asset(path)).toBeUndefined()
})
