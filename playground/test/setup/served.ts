import type { TestProject } from 'vitest/node'
import { buildPlayground } from '../../scripts/build.mjs'
import { servePlayground } from '../../scripts/serve.mjs'

declare module 'vitest' {
  export interface ProvidedContext {
    playground: string
  }
}

/** Builds the playground once, and serves it to all tests as `npm run playground` does. */
export default async function serve(project: TestProject): Promise<() => void> {
  await buildPlayground()
  const { url, close } = await servePlayground()
  project.provide('playground', url)
  return close
}
