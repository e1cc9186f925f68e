/** Names and folders (`.aws/`) match as they are, and patterns with `*` match the ends of names. */
const plain = `*.pem *.p12 *.pfx *.p8 *.ppk *.jks *.keystore .git-credentials .htpasswd .pypirc .s3cfg .vault-token
  master.key .aws/ .gnupg/`;

const template = '(?:example|sample|template|dist|defaults?|schema)';

/**
 * Names of files that usually contain secrets: a pattern for the screen, and a pattern for a path
 * in lower case with a leading `/`. Templates (.env.example), which are public, and .npmrc, which
 * mostly sets a registry, are absent: only their content is checked.
 * @internal Tests have an example of each.
 */
export const riskyNames: readonly (readonly [pattern: string, path: RegExp])[] = [
  ['.env*', new RegExp(`/\\.env(?:rc|[._-](?!(?:[^/]*[._-])?${template}(?:$|[._-]))[^/]*)?$`)],
  ['*.env', new RegExp(`/(?!(?:[^/]*[._-])?${template}[._-])[^/]+\\.env$`)],
  ...plain.split(/\s+/).map((pattern) => {
    const path = pattern.replaceAll('.', '\\.').replace(/^(?!\*)/, '/');
    return [pattern, new RegExp(`${path.replace('*', '')}${pattern.endsWith('/') ? '[^/]' : '$'}`)] as const;
  }),
  ['*.kdbx', /\.kdbx?$/],
  // A key file has no extension, or one such as `.bak` or `.key` after the type of its key.
  // `id_map.json` and `id_generator.py` aren't keys.
  ['id_*', /\/id_(?:[^./]+|(?:rsa|dsa|ecdsa|ed25519)[^./]*\.(?:bak|old|orig|backup|key|txt|\d+))$/],
  ['.netrc', /\/[._]netrc$/],
  ['.pgpass', /\/\.?pgpass(?:\.conf)?$/],
  ['kubeconfig', /[/.]kubeconfig$/],
  ['*.tfstate', /\.tfstate(?:\.[^/]*)?$/],
  ['.docker/config.json', /\/\.docker(?:\/config\.json|cfg|configjson)$/],
  ['.kube/', /\/\.kube\/config$/],
  ['.ssh/', /\/\.ssh\/(?!.*(?:\.pub|known_hosts|authorized_keys)$)[^/]/],
];

export function riskyName(path: string): string | undefined {
  return riskyNames.find(([, risky]) => risky.test(`/${path.toLowerCase()}`))?.[0];
}

export function isPublicPem(text: string): boolean {
  const labels = [...text.matchAll(/-----BEGIN ([^-\r\n]{1,64})-----/g)].map(([, label]) => label ?? '');
  return (
    labels.length > 0 &&
    labels.every(
      (label) => /CERTIFICATE|PUBLIC KEY|CRL|PARAMETERS|CMS|PKCS7/.test(label) && !label.includes('PRIVATE'),
    )
  );
}
