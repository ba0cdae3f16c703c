import { readdir } from 'node:fs/promises'
import type { Statement } from '../../src/connection/statement.ts'

const FOLDER = new URL('../../src/', import.meta.url)

/** Every statement that a module of the adapter exports. */
export async function exportedStatements(): Promise<readonly Statement<unknown>[]> {
  // Those of the new engine are about other tables: test/store/plans.test.ts.
  const files = (await readdir(FOLDER, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('statements'),
  )
  const modules = await Promise.all(files.map((file) => import(new URL(file, FOLDER).href)))
  return modules.flatMap((module) => Object.values(module).filter(isStatement))
}

function isStatement(value: unknown): value is Statement<unknown> {
  return typeof value === 'object' && value !== null && 'text' in value && 'name' in value
}
