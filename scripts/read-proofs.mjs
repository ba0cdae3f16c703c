import { readFileSync } from 'node:fs'

/**
 * What proves by quantity, or installs and starts much: `npm test` leaves it out, and CI runs it. Each file is a path, or its beginning.
 * @type {Readonly<Record<string, { readonly proves: string, readonly files: readonly string[] }>>}
 */
export const PROOFS = JSON.parse(readFileSync(new URL('proofs.json', import.meta.url), 'utf8'))
