import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A script that keeps these files of `folder`, so that the page opens without a network. Its cache is named by their contents: a new build fills a new
 * one as a whole, and the old ones go.
 */
export function serviceWorker(/** @type {string} */ folder, /** @type {readonly string[]} */ files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(readFileSync(join(folder, file)))
  return `const CACHE = 'belay-playground-${hash.digest('hex').slice(0, 16)}'
const FILES = ${JSON.stringify(['./', ...files])}
addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)))
})
addEventListener('activate', (event) => {
  event.waitUntil(caches.keys().then((names) => Promise.all(
    names.filter((name) => name.startsWith('belay-playground-') && name !== CACHE).map((name) => caches.delete(name)))))
})
addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return
  event.respondWith(caches.open(CACHE).then((cache) => cache.match(event.request)).then((kept) => kept ?? fetch(event.request)))
})
`
}
