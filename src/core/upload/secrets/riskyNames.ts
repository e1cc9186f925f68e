/** A file name that suggests credentials by itself; `publicIf` marks names that public material has as well. */
export interface RiskyName {
  /** As people write it: `.env*`, `*.pem`. */
  readonly pattern: string;
  readonly publicIf?: 'onlyCertificates';
}

interface Rule extends RiskyName {
  /** Matched against the lower-case path, or its last segment. */
  readonly path?: RegExp;
  readonly name?: RegExp;
}

// Templates (.env.example) are meant to be read: only their content is checked.
// .npmrc mostly sets a registry: only its content is checked (secretlint's npm rule, and `npmrc-auth`).
/**
 * All risky names.
 * @internal Tests check that they have an example of each.
 */
export const riskyNames: readonly Rule[] = [
  {
    pattern: '.env*',
    name: /^\.env(?:rc)?$|^\.env[._-](?!(?:.*[._-])?(?:example|sample|template|dist|defaults?|schema)(?:$|[._-]))/,
  },
  {
    pattern: '*.env',
    name: /^(?!(?:.*[._-])?(?:example|sample|template|dist|defaults?|schema)[._-]).+\.env$/,
  },
  { pattern: '*.pem', name: /\.pem$/, publicIf: 'onlyCertificates' },
  { pattern: '*.p12', name: /\.p12$/ },
  { pattern: '*.pfx', name: /\.pfx$/ },
  { pattern: '*.p8', name: /\.p8$/ },
  { pattern: '*.ppk', name: /\.ppk$/ },
  { pattern: '*.jks', name: /\.jks$/ },
  { pattern: '*.keystore', name: /\.keystore$/ },
  { pattern: '*.kdbx', name: /\.kdbx?$/ },
  // id_map.json and id_generator.py are ordinary files: a key has no extension, or that of a copy.
  {
    pattern: 'id_*',
    name: /^id_[^.]+$|^id_(?:rsa|dsa|ecdsa|ed25519)[^.]*\.(?:bak|old|orig|backup|key|txt|\d+)$/,
  },
  { pattern: '.netrc', name: /^[._]netrc$/ },
  { pattern: '.pgpass', name: /^\.?pgpass(?:\.conf)?$/ },
  { pattern: '.git-credentials', name: /^\.git-credentials$/ },
  { pattern: '.htpasswd', name: /^\.htpasswd$/ },
  { pattern: '.pypirc', name: /^\.pypirc$/ },
  { pattern: '.s3cfg', name: /^\.s3cfg$/ },
  { pattern: '.vault-token', name: /^\.vault-token$/ },
  { pattern: 'master.key', name: /^master\.key$/ },
  { pattern: 'kubeconfig', name: /^kubeconfig$|\.kubeconfig$/ },
  { pattern: '*.tfstate', name: /\.tfstate(?:\..*)?$/ },
  {
    pattern: '.docker/config.json',
    path: /(?:^|\/)\.docker\/config\.json$/,
    name: /^\.docker(?:cfg|configjson)$/,
  },
  { pattern: '.kube/', path: /(?:^|\/)\.kube\/config$/ },
  { pattern: '.aws/', path: /(?:^|\/)\.aws\/[^/]/ },
  { pattern: '.ssh/', path: /(?:^|\/)\.ssh\/(?!.*(?:\.pub|known_hosts|authorized_keys)$)[^/]/ },
  { pattern: '.gnupg/', path: /(?:^|\/)\.gnupg\/[^/]/ },
];

/** The rule that a file's path (with `/`, below the root) matches, case ignored; undefined for an ordinary name. */
export function riskyName(path: string): RiskyName | undefined {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf('/') + 1);
  return riskyNames.find((rule) => rule.path?.test(lower) === true || rule.name?.test(name) === true);
}

/** True for PEM text with nothing but certificates, public keys and parameters. */
export function isPublicPem(text: string): boolean {
  const labels = [...text.matchAll(/-----BEGIN ([^-\r\n]{1,64})-----/g)].map(([, label]) => label ?? '');
  return (
    labels.length > 0 &&
    labels.every(
      (label) => /CERTIFICATE|PUBLIC KEY|CRL|PARAMETERS|CMS|PKCS7/.test(label) && !label.includes('PRIVATE'),
    )
  );
}
