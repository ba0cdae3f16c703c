/** The machine's name; null where there is none to ask for, as in a browser. Asked without an import, which bundlers would follow. */
export function hostName(): string | null {
  const { process } = globalThis as { readonly process?: Partial<NodeJS.Process> }
  return process?.getBuiltinModule?.('node:os')?.hostname() ?? null
}
