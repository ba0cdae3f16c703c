/** The machine's name; null where there is none, as in a browser. No import, because bundlers would follow it. */
export function hostName(): string | null {
  const { process } = globalThis as { readonly process?: Partial<NodeJS.Process> }
  return process?.getBuiltinModule?.('node:os')?.hostname() ?? null
}
