import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist', import.meta.url))

/** @type {Readonly<Record<string, string>>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
  '.gz': 'application/gzip',
}

/** The reader's code is a blob; PostgreSQL is WebAssembly. Nothing else may run, and nothing leaves the page. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

/**
 * Undefined for a target that names nothing within: a target may have any form.
 * @param {string} target
 */
function fileAt(target) {
  try {
    const path = decodeURIComponent(target.replace(/[?#].*/s, ''))
    const file = join(dist, normalize(path.endsWith('/') ? `${path}index.html` : path))
    return file.startsWith(`${dist}${sep}`) && !file.includes('\0') ? file : undefined
  } catch {
    return undefined
  }
}

/** Serves `dist/` on 127.0.0.1. Resolves to its address once it listens; rejects if it cannot. */
export async function servePlayground({ port = 0 } = {}) {
  const server = createServer((request, response) => {
    const file = fileAt(request.url ?? '/')
    if (file === undefined || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is nothing at this address.\n')
      return
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-length': statSync(file).size,
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
    })
    createReadStream(file).pipe(response)
  })
  await new Promise((listening, refused) => {
    server.once('error', refused)
    server.listen(port, '127.0.0.1', () => listening(undefined))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return { url: `http://127.0.0.1:${address.port}/`, close: () => server.close() }
}
