/** Acts on many runs. `id`: of a repair that was begun. */
export function Repairs({ id }: { readonly id: string | undefined }) {
  return <h1>Repair many {id}</h1>
}
