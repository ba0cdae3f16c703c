export function Versions({ name }: { readonly name: string | undefined }) {
  return <h1>Versions {name}</h1>
}
