# Sourced by the scripts of the repository: installs missing Debian or Ubuntu packages, as root or with sudo.

have_package() {
  case $1 in
    boost-headers) # any Boost from 1.81 on, whatever the package is called
      [[ $(grep -soP '^#define BOOST_VERSION \K\d+' /usr/include/boost/version.hpp) -ge 108100 ]] ;;
    *)
      [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]] ;;
  esac
}

newest_boost() {
  apt-cache search --names-only '^libboost1\.[0-9]+-dev$' | cut -d ' ' -f 1 | sort -V | tail -n 1
}

# install_packages NAME...: says what is missing and installs it; does nothing when nothing is.
install_packages() {
  local package missing=() root=()
  for package in "$@"; do
    have_package "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    echo "This is neither Debian nor Ubuntu. Going on without installing: ${missing[*]}"
    return 0
  fi
  echo "Installing with apt-get: ${missing[*]}"
  ((EUID)) && root=(sudo)
  root+=(env DEBIAN_FRONTEND=noninteractive)
  "${root[@]}" apt-get update -qq
  "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]/#boost-headers/$(newest_boost)}"
}
